package cursor

import (
	"io/fs"
	"net/http"
	"os"
	"testing"
	"time"
)

// A logout by another process wins against a list that arrives late.
func TestListOfALoginThatAnotherProcessEndedIsNotStored(t *testing.T) {
	for _, ended := range []bool{false, true} {
		f := newFakeCursor(t)
		store := storeOf(f.login(time.Hour))
		for method, body := range map[string]string{
			methodAvailable: `{"models":[{"name":"m"}]}`, methodUsable: `{"models":[{"modelId":"m"}]}`, methodDefault: `{"model":{"modelId":"m"}}`,
		} {
			f.faults["/"+method] = func(w http.ResponseWriter) {
				if ended {
					if err := store.Delete(t.Context(), loginName); err != nil {
						t.Error(err)
					}
				}
				says(body)(w)
			}
		}
		dir := t.TempDir()
		written := make(chan struct{}, 10)
		a := newAccount(t, f, store, func(cfg *AccountConfig) {
			cfg.CacheDir, cfg.ModelsChanged = dir, func() { written <- struct{}{} }
		})
		if _, err := a.Catalog(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-written
		_, err := os.Stat(modelPath(dir, "auth0|user_secret"))
		if exists := err == nil; exists == ended {
			t.Errorf("logged out %v: %v", ended, err)
		}
		if entries, err := fs.Glob(os.DirFS(dir), "*"); err != nil || ended && len(entries) > 0 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
	}
}
