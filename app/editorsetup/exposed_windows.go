package editorsetup

// exposed is what it is elsewhere. Here lists say who can read a file, and a
// user's own folder is kept from others.
func exposed(string) bool { return false }
