// Command bench measures cursortray beside the least that could do the same:
// for its cli back-end a raw pass-through server that starts the same fake
// cursor-agent, for its agent back-end a bare server that decodes what the same
// simulated Cursor sends. It prints both with the targets. It drives built
// programs only and needs Linux. Each measurement starts its processes and waits
// for their end; the program starts no goroutine that outlives one, but for the
// bare server, whose held runs end with its process.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	// The program is also the processes that it starts.
	if len(args) == 2 {
		switch args[0] {
		case "passthrough":
			return servePassthrough(args[1], key)
		case "bare":
			return serveBare(args[1], key)
		case "cursor":
			return serveCursor(args[1])
		case "load":
			return runLoad(args[1])
		}
	}

	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := flags.String("only", "", "run the measurements whose `name` matches: "+names())
	rounds := flags.Int("rounds", 5, "repeat what is noisy this often and take the median")
	cursortray := flags.String("cursortray", "", "measure this `program` instead of building one")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pick, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return fmt.Errorf("it reads /proc and so needs Linux: %w", err)
	}
	b := &bench{rounds: *rounds, cursortray: *cursortray, out: &table{}}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "cursortray-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.build(); err != nil {
		return err
	}
	for _, m := range measurements {
		if !pick.MatchString(m.name) {
			continue
		}
		b.out.head(m.yardstick)
		if err := m.run(b); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	b.out.summary()
	return nil
}

// build makes the programs that are measured.
func (b *bench) build() error {
	b.agent = filepath.Join(b.dir, "cursor-agent")
	if err := goBuild(b.agent, "./proxy/cursor/cursorsim/cmd/cursor-agent"); err != nil {
		return err
	}
	if b.cursortray != "" {
		return nil
	}
	b.cursortray = filepath.Join(b.dir, "cursortray")
	return goBuild(b.cursortray, "./app/cmd/cursortray")
}

// goBuild builds as the packages are built.
func goBuild(out, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s (run it from the module's folder): %w", pkg, err)
	}
	return nil
}
