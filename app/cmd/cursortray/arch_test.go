package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is one Go file of the module, parsed whatever its build tags say, so
// that code for another system is held to the rules as well.
type source struct {
	path  string // below the module's root, with slashes
	dir   string // its folder: the import path without the module
	test  bool
	lines int
	file  *ast.File
}

const root = "../../.."

func sources(t *testing.T) (*token.FileSet, []source) {
	t.Helper()
	fset := token.NewFileSet()
	var all []source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != root && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules" || base == "bin" || base == "dist") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		file, err := parser.ParseFile(fset, rel, text, parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, source{
			path: rel, dir: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"),
			lines: bytes.Count(text, []byte("\n")), file: file,
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatalf("no Go file below %s", root)
	}
	return fset, all
}

func (s source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// generated files are not written by hand and so not held to rules of style.
func (s source) generated() bool { return ast.IsGenerated(s.file) }

// program tells whether the file belongs to a main package.
func (s source) program() bool { return s.file.Name.Name == "main" }

func TestArchImports(t *testing.T) {
	_, all := sources(t)
	for _, s := range all {
		allowed, listed := mayImport[s.dir]
		if !listed {
			t.Errorf("%s: package %s is not in the table mayImport", s.path, s.dir)
			continue
		}
		if s.test {
			allowed = append(append([]string{s.dir}, allowed...), testsMayImport...)
		}
		for _, p := range s.imports() {
			ours, ok := strings.CutPrefix(p, module+"/")
			if !ok || slices.Contains(allowed, anything) && (s.test || !testPackage(ours)) {
				continue
			}
			if !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s; %s may import %v", s.path, ours, s.dir, allowed)
			}
		}
	}
}

// testPackage tells whether a package is for tests only.
func testPackage(dir string) bool {
	return strings.HasSuffix(dir, "test") || dir == "proxy/cursor/cursorsim/agentsim"
}

func TestArchThirdParty(t *testing.T) {
	_, all := sources(t)
	used := map[string]bool{}
	for _, s := range all {
		for _, p := range s.imports() {
			if first, _, _ := strings.Cut(p, "/"); !strings.Contains(first, ".") {
				continue // the standard library, or ours
			}
			name := moduleOf(p)
			used[name] = true
			if slices.Contains(usedBy[name], s.dir) || (s.test || testPackage(s.dir)) && slices.Contains(usedByTests, name) {
				continue
			}
			t.Errorf("%s imports %s, which is for %v only (table usedBy)", s.path, p, usedBy[name])
		}
	}
	for name, dirs := range usedBy {
		for _, dir := range dirs {
			if used[name] && !slices.ContainsFunc(all, func(s source) bool {
				return s.dir == dir && slices.ContainsFunc(s.imports(), func(p string) bool { return moduleOf(p) == name })
			}) {
				t.Errorf("the table usedBy lists %s for %s, which does not import it", dir, name)
			}
		}
	}
}

func moduleOf(importPath string) string {
	names := usedByTests
	for name := range usedBy {
		names = append(names[:len(names):len(names)], name)
	}
	for _, name := range names {
		if importPath == name || strings.HasPrefix(importPath, name+"/") {
			return name
		}
	}
	return importPath
}

func TestArchPackageComment(t *testing.T) {
	_, all := sources(t)
	docs := map[string][]string{} // package -> its files with a doc comment
	code := map[string]bool{}     // packages with more than test files
	for _, s := range all {
		if strings.HasSuffix(s.file.Name.Name, "_test") {
			continue
		}
		code[s.dir] = code[s.dir] || !s.test
		if s.file.Doc != nil {
			docs[s.dir] = append(docs[s.dir], s.path)
		} else if docs[s.dir] == nil {
			docs[s.dir] = []string{}
		}
	}
	for dir, files := range docs {
		if len(files) != 1 {
			t.Errorf("package %s has %d doc comments, want one: %v", dir, len(files), files)
			continue
		}
		if code[dir] && strings.HasSuffix(files[0], "_test.go") {
			t.Errorf("%s: the doc comment of %s is in a test file", files[0], dir)
		}
	}
}

func TestArchPackageNames(t *testing.T) {
	_, all := sources(t)
	dirOf := map[string]string{}
	for _, s := range all {
		for part := range strings.SplitSeq(s.dir, "/") {
			if slices.Contains(emptyNames, part) {
				t.Errorf("%s: the name %q does not say what the package is", s.path, part)
			}
		}
		name := strings.TrimSuffix(s.file.Name.Name, "_test")
		if name == "main" {
			continue
		}
		if other, ok := dirOf[name]; ok && other != s.dir {
			t.Errorf("%s and %s are both named %s", other, s.dir, name)
		}
		dirOf[name] = s.dir
	}
}

// TestArchContext: whoever waits takes its caller's context. Only main, tests
// and the listed exceptions make a new one.
func TestArchContext(t *testing.T) {
	for _, use := range selectors(t, "context", "Background", "TODO") {
		if !use.test && !testPackage(use.dir) && !use.program() && ownContext[use.path] == "" {
			t.Errorf("%s: take a context from the caller", use.position)
		}
	}
}

// TestArchGOOS: systems differ by file, not by branch.
func TestArchGOOS(t *testing.T) {
	for _, use := range selectors(t, "runtime", "GOOS") {
		base := strings.TrimSuffix(path.Base(use.path), ".go")
		base = strings.TrimSuffix(base, "_test")
		i := strings.LastIndex(base, "_")
		if i >= 0 && slices.Contains([]string{"linux", "darwin", "windows", "unix", "other"}, base[i+1:]) {
			continue
		}
		if asksGOOS[use.path] == "" {
			t.Errorf("%s: put it into a file with _GOOS in its name", use.position)
		}
	}
}

type use struct {
	source
	position string
}

// selectors finds every pkg.name in the module.
func selectors(t *testing.T, pkg string, names ...string) []use {
	t.Helper()
	fset, all := sources(t)
	var found []use
	for _, s := range all {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains(names, sel.Sel.Name) {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == pkg {
					found = append(found, use{s, fmt.Sprint(fset.Position(sel.Pos()), ": ", pkg, ".", sel.Sel.Name)})
				}
			}
			return true
		})
	}
	return found
}

// TestArchNoInit: main constructs, everything else receives.
func TestArchNoInit(t *testing.T) {
	fset, all := sources(t)
	for _, s := range all {
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" && !s.generated() {
				t.Errorf("%s: no init functions", fset.Position(f.Pos()))
			}
		}
	}
}

// TestArchNoMutableVariables finds assignments to package variables.
func TestArchNoMutableVariables(t *testing.T) {
	fset, all := sources(t)
	vars := map[string]map[string]bool{} // package -> names of its variables
	for _, s := range all {
		if vars[s.dir] == nil {
			vars[s.dir] = map[string]bool{}
		}
		for _, decl := range s.file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
				for _, spec := range d.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						vars[s.dir][name.Name] = true
					}
				}
			}
		}
	}
	for _, s := range all {
		if s.generated() {
			continue
		}
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			for _, name := range assigned(f) {
				if vars[s.dir][name.Name] {
					t.Errorf("%s: assigns to the package variable %s", fset.Position(name.Pos()), name.Name)
				}
			}
		}
	}
}

// assigned returns the names that f assigns to, also through an index or a
// field, without those that f itself declares.
func assigned(f *ast.FuncDecl) []*ast.Ident {
	local := map[string]bool{}
	var names []*ast.Ident
	target := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.IndexExpr:
				e = x.X
			case *ast.SelectorExpr:
				e = x.X
			case *ast.ParenExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			case *ast.Ident:
				names = append(names, x)
				return
			default:
				return
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				local[name.Name] = true
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				local[name.Name] = true
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[id.Name] = true
				} else if e != nil && n.Tok == token.ASSIGN {
					target(e)
				}
			}
		case *ast.IncDecStmt:
			target(n.X)
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[id.Name] = true
				} else {
					target(e)
				}
			}
		}
		return true
	})
	return slices.DeleteFunc(names, func(id *ast.Ident) bool { return local[id.Name] || id.Name == "_" })
}

// TestArchFileLength: one file, one subject.
func TestArchFileLength(t *testing.T) {
	_, all := sources(t)
	for _, s := range all {
		if s.lines > maxLines && !s.generated() && longFiles[s.path] == "" {
			t.Errorf("%s has %d lines; split it, or list it with a reason", s.path, s.lines)
		}
	}
}

// TestArchNoSkippedTests: a test that cannot run has failed.
func TestArchNoSkippedTests(t *testing.T) {
	_, all := sources(t)
	for _, s := range all {
		if !s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) {
				if x, ok := sel.X.(*ast.Ident); ok && len(x.Name) <= 2 {
					t.Errorf("%s skips a test", s.path)
				}
			}
			return true
		})
	}
}

// TestArchDependenciesExplained: every module that is used has its line in
// CONTRIBUTING.md, with what it is for.
func TestArchDependenciesExplained(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, all := sources(t)
	missing := map[string]bool{}
	for _, s := range all {
		for _, p := range s.imports() {
			if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") && !bytes.Contains(text, []byte("`"+moduleOf(p)+"`")) {
				missing[moduleOf(p)] = true
			}
		}
	}
	for name := range missing {
		t.Errorf("CONTRIBUTING.md does not say what %s is for", name)
	}
}
