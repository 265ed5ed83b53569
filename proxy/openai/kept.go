package openai

import "sync"

// keptItems remembers the newest items of answers. Clients that leave storing
// to the server, as the AI SDK does by default, send of an earlier answer only
// the ids of its items. What is kept lies in memory and is bounded; the oldest
// goes first. Ids are random and long, so who knows one had the answer.
type keptItems struct {
	mu    sync.Mutex
	items map[string]string // the finished items as JSON, by id
	ids   []string          // the oldest first
	bytes int
	most  int
}

// mostKept is how much JSON is kept: the answers of some hundred long
// conversations.
const mostKept = 32 << 20

func newKeptItems(most int) *keptItems {
	return &keptItems{items: map[string]string{}, most: most}
}

// add keeps an item. json is copied.
func (k *keptItems) add(id string, json []byte) {
	if k == nil || len(json) > k.most {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.items[id] = string(json)
	k.ids = append(k.ids, id)
	k.bytes += len(json)
	for k.bytes > k.most {
		oldest := k.ids[0]
		k.bytes -= len(k.items[oldest])
		delete(k.items, oldest)
		k.ids = k.ids[1:]
	}
}

// get returns an item as JSON, nil if it is not, or no longer, there.
func (k *keptItems) get(id string) []byte {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	json, ok := k.items[id]
	if !ok {
		return nil
	}
	return []byte(json)
}
