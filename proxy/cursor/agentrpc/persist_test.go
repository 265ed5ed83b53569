package agentrpc

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
)

func inFolder(dir string) func(*Config, *timing) {
	return func(cfg *Config, _ *timing) { cfg.Folder = dir }
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestConversationsOutliveTheProgram(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "conversations")
	first := newBench(t, checkpointTurn(true), inFolder(dir))
	req, answers := first.talk(t, words("question 1"), 2)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	list := files(t, dir)
	if len(list) != 1 {
		t.Fatalf("the folder has %v", list)
	}
	info, err := os.Stat(list[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	second := newBench(t, checkpointTurn(true), inFolder(dir))
	a := second.ask(t, req)
	before, after := first.service.seen(), second.service.seen()
	if len(after) != 1 || after[0].GetConversationId() != before[0].GetConversationId() || len(after[0].GetConversationState()) == 0 {
		t.Errorf("the conversation began anew")
	}
	if a.finish == nil || a.finish.Conversation != answers[0].finish.Conversation {
		t.Errorf("got %+v", a)
	}
	// Its former self is not there any more, for another branch of the talk.
	a = second.ask(t, req)
	if runs := second.service.seen(); runs[1].GetConversationId() == runs[0].GetConversationId() {
		t.Errorf("two branches share a conversation: %+v", a)
	}
}

func TestConversationsStayInMemoryIfWanted(t *testing.T) {
	first := newBench(t, checkpointTurn(true))
	req, _ := first.talk(t, words("question 1"), 1)
	second := newBench(t, checkpointTurn(true))
	if a := second.ask(t, req); a.text != "answer 1" {
		t.Errorf("got %+v", a)
	}
	if r := second.service.seen()[0]; r.GetConversationId() == first.service.seen()[0].GetConversationId() {
		t.Error("the conversation was kept somewhere")
	}
}

// Who does not want them on disk any more finds none there from before, and
// what is not the program's stays.
func TestConversationsFromBeforeGoIfTheyAreNotWanted(t *testing.T) {
	dir := t.TempDir()
	first := newBench(t, checkpointTurn(true), inFolder(dir))
	req, _ := first.talk(t, words("question 1"), 1)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"new-123", "mine.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := newBench(t, checkpointTurn(true), inFolder(dir), func(cfg *Config, _ *timing) { cfg.MemoryOnly = true })
	if list := files(t, dir); len(list) != 1 || filepath.Base(list[0]) != "mine.txt" {
		t.Errorf("the folder has %v", list)
	}
	if a := second.ask(t, req); a.text != "answer 1" {
		t.Errorf("got %+v", a)
	}
	if err := second.Close(); err != nil || len(files(t, dir)) != 1 {
		t.Errorf("the folder has %v (%v)", files(t, dir), err)
	}
}

// Conversations on disk go after a day also when nobody asks anything, neither
// before a restart nor after it.
func TestSavedConversationsExpireUnused(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		open := func() *shelf {
			times := defaultTiming()
			return newShelf(times, &snapshots{dir: dir, life: times.snapshot, delay: times.saving, logger: slog.New(slog.DiscardHandler)})
		}
		left := func() int { synctest.Wait(); return len(files(t, dir)) }
		s := open()
		s.put(sample("one", time.Now()))
		s.disk.save(sample("one", time.Now()))
		time.Sleep(23 * time.Hour)
		if left() != 1 {
			t.Error("the file went too early")
		}
		time.Sleep(3 * time.Hour)
		if left() != 0 {
			t.Error("the file is still there")
		}
		s.disk.save(sample("two", time.Now()))
		s.close()
		time.Sleep(23 * time.Hour)
		s = open()
		time.Sleep(3 * time.Hour)
		if left() != 0 {
			t.Error("after a restart the file is still there")
		}
		s.close()
	})
}

func TestForgetForgetsTheDiskToo(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, checkpointTurn(true), inFolder(dir))
	req, _ := b.talk(t, words("question 1"), 1)
	eventually(t, "saving", func() bool { return len(files(t, dir)) == 1 })
	b.Forget()
	if list := files(t, dir); len(list) != 0 {
		t.Errorf("the folder has %v", list)
	}
	b.ask(t, req)
	if runs := b.service.seen(); runs[0].GetConversationId() == runs[1].GetConversationId() {
		t.Error("the conversation goes on")
	}
}

// A file is worth a conversation's state, not a request.
func TestSavedConversationThatCannotBeRead(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"cut":     func(data []byte) []byte { return data[:len(data)-10] },
		"changed": func(data []byte) []byte { data[len(data)-20] ^= 0xff; return data },
		"empty":   func([]byte) []byte { return nil },
		"foreign": func([]byte) []byte { return []byte("hello\n") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			first := newBench(t, checkpointTurn(true), inFolder(dir))
			req, _ := first.talk(t, words("question 1"), 1)
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			file := files(t, dir)[0]
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, damage(data), 0o600); err != nil {
				t.Fatal(err)
			}
			second := newBench(t, checkpointTurn(true), inFolder(dir))
			if a := second.ask(t, req); a.text != "answer 1" {
				t.Errorf("got %+v, %v", a, a.err)
			}
		})
	}
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, checkpointTurn(true), inFolder(file))
	if _, answers := b.talk(t, words("question 1"), 2); answers[1].text != "answer 2" {
		t.Errorf("got %+v", answers)
	}
}

func sample(name string, used time.Time) *conversation {
	c := newConversation("session")
	c.print = fingerprint{}.with(chat.Message{Parts: []chat.Part{chat.Text{Text: name}}})
	c.state, c.used, c.turns = []byte("state of "+name), used, 1
	c.blobs.set([]byte("id"), []byte("blob of "+name))
	return c
}

func TestSavedConversationsExpire(t *testing.T) {
	dir := t.TempDir()
	open := func() *snapshots {
		return &snapshots{dir: dir, life: 24 * time.Hour, logger: slog.New(slog.DiscardHandler)}
	}
	fresh, old := sample("fresh", time.Now()), sample("old", time.Now().Add(-23*time.Hour))
	s := open()
	s.save(fresh)
	s.save(old)
	if err := os.WriteFile(filepath.Join(dir, "new-123"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = open()
	s.life = 22 * time.Hour
	if c := s.load(old.print, false); c != nil {
		t.Error("a conversation of yesterday is still there")
	}
	c := s.load(fresh.print, false)
	if c == nil || string(c.state) != "state of fresh" || string(c.blobs.data["id"]) != "blob of fresh" || c.name != fresh.name || c.session != "session" {
		t.Errorf("got %+v", c)
	}
	if s.load(fresh.print, false) != nil {
		t.Error("two runs got one conversation")
	}
	if list := files(t, dir); len(list) != 1 {
		t.Errorf("the folder has %v", list)
	}
}

func TestEarlierTurnDoesNotReplaceALaterOne(t *testing.T) {
	s := &snapshots{dir: t.TempDir(), life: time.Hour, logger: slog.New(slog.DiscardHandler)}
	c := sample("c", time.Now())
	c.turns = 2
	s.save(c)
	earlier := c.copied()
	earlier.turns, earlier.state = 1, []byte("earlier")
	s.save(earlier)
	if got := s.load(c.print, false); got == nil || string(got.state) != "state of c" {
		t.Errorf("got %+v", got)
	}
}

func TestSavedFileHasNoPlainText(t *testing.T) {
	var out bytes.Buffer
	c := sample("c", time.Now())
	c.state = []byte(strings.Repeat("the user's words ", 100))
	if err := writeSnapshot(&out, newPacker(), c.head(), c); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 1000 {
		t.Errorf("%d bytes for 1700 of one sentence: not compressed", out.Len())
	}
}

func FuzzReadSnapshot(f *testing.F) {
	var out bytes.Buffer
	c := sample("seed", time.Unix(1, 0))
	if err := writeSnapshot(&out, newPacker(), c.head(), c); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Add([]byte(snapshotTitle + "{}\n"))
	f.Add(out.Bytes()[:out.Len()-9])
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := readSnapshot(bytes.NewReader(data))
		if (c == nil) == (err == nil) {
			t.Errorf("got %v and %v", c, err)
		}
		if err == nil {
			reachable(&c.blobs, c.state)
		}
	})
}

// What a run leaves behind when everything was forgotten meanwhile belongs to
// another account.
func TestForgetReachesRunsUnderWay(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, checkpointTurn(true), inFolder(dir))
	req, _ := b.talk(t, words("question 1"), 1)
	for e := range b.Chat(t.Context(), req) {
		if _, ok := e.(chat.TextDelta); ok {
			b.Forget()
		}
	}
	eventually(t, "the end of the run", func() bool { return len(b.runs.opened()) == 0 })
	b.ask(t, req)
	runs := b.service.seen()
	if last := runs[len(runs)-1]; last.GetConversationId() == runs[0].GetConversationId() || last.GetConversationId() == runs[1].GetConversationId() {
		t.Error("the conversation goes on")
	}
}

// Conversations that stand for the same messages, as those of a program that
// asks the same question again and again, do not fill the disk.
func TestSameWordsAreKeptOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "conversations")
	same := func(s *session) error {
		if err := s.say("pong"); err != nil {
			return err
		}
		if err := s.checkpoint(used(1, 2)); err != nil {
			return err
		}
		return s.end(nil)
	}
	for range 2 { // with and without a restart
		b := newBench(t, same, inFolder(dir))
		for range 3 {
			b.ask(t, words("ping"))
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if list := files(t, dir); len(list) != 1 {
			t.Fatalf("the folder has %v", list)
		}
	}
	// As an older version left them.
	text, err := os.ReadFile(files(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "another"+snapshotSuffix), text, 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, same, inFolder(dir))
	b.ask(t, words("something else"))
	eventually(t, "one of each", func() bool { return len(files(t, dir)) == 2 })
}
