package editors

import "cursortray/app/confedit"

// withoutRenamed takes entries of lists out that the user has given another
// name, or made from cursortray's: the key and the model that they hold tell
// whose they are. What was there before stays, whatever it holds.
func (f *fileRecord) withoutRenamed(data []byte) ([]byte, error) {
	before, err := confedit.Decode(f.Format, f.before)
	if err != nil {
		return nil, err
	}
	for _, own := range f.Own {
		named := own[len(own)-1]
		key, model := f.writtenIn(own, "apiKey"), f.writtenIn(own, "model")
		if named.Key == "" || key == "" || model == "" {
			continue
		}
		ours := func(entry any) bool {
			m, _ := entry.(map[string]any)
			return sumOf(m["apiKey"]) == key && sumOf(m["model"]) == model
		}
		tree, err := confedit.Decode(f.Format, data)
		if err != nil {
			return nil, err
		}
		parent := own[:len(own)-1]
		there, _ := confedit.Get(tree, parent)
		list, _ := there.([]any)
		for _, entry := range list {
			m, _ := entry.(map[string]any)
			name, ok := m[named.Key].(string)
			at := parent.Then(confedit.Item(named.Key, name))
			if _, had := confedit.Get(before, at); !ok || had || !ours(entry) {
				continue
			}
			// The first of that name is what a path leads to.
			if first, _ := confedit.Get(tree, at); !ours(first) {
				continue
			}
			if data, err = confedit.Remove(f.Format, data, at); err != nil {
				return nil, err
			}
			if tree, err = confedit.Decode(f.Format, data); err != nil {
				return nil, err
			}
		}
	}
	return data, nil
}

// writtenIn is the sum of a value that was written into an entry; "" is none.
func (f *fileRecord) writtenIn(own confedit.Path, name string) string {
	at := own.Then(confedit.Names(name)...)
	for _, l := range f.Leaves {
		if len(l.Path) == len(at) && l.Path.Within(at) {
			return l.Sum
		}
	}
	return ""
}
