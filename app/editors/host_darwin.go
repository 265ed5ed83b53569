package editors

// Host is the system this program was built for.
const Host = MacOS
