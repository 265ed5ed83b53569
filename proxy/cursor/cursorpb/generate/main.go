// Command generate writes the Go code for the .proto files of the package in
// the current folder. It needs nothing but the Go toolchain: the compiler is a
// Go module and the two plugins are tools of this module, so everyone gets the
// versions that go.mod names. It starts no goroutines of its own.
package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// plugins are the tools that turn descriptors into code. The stubs go into the
// package of the messages: it is small and nobody needs one without the other.
var plugins = []struct{ tool, parameter string }{
	{"protoc-gen-go", "paths=source_relative"},
	{"protoc-gen-connect-go", "paths=source_relative,package_suffix="},
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the package: %w", err)
	}
	code, err := generate(ctx, dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(code)) {
		if err := os.WriteFile(filepath.Join(dir, name), code[name], 0o644); err != nil {
			return fmt.Errorf("write generated code: %w", err)
		}
	}
	return nil
}

// generate returns the generated files, by name, for the .proto files in dir.
func generate(ctx context.Context, dir string) (map[string][]byte, error) {
	request, err := compile(ctx, dir)
	if err != nil {
		return nil, err
	}
	code := make(map[string][]byte)
	for _, plugin := range plugins {
		request.Parameter = proto.String(plugin.parameter)
		response, err := runPlugin(ctx, plugin.tool, request)
		if err != nil {
			return nil, err
		}
		for _, file := range response.GetFile() {
			code[path.Base(file.GetName())] = []byte(file.GetContent())
		}
	}
	return code, nil
}

// compile parses the .proto files of dir. Their names start with the folder's,
// which keeps them apart from other packages' files in the runtime's registry.
func compile(ctx context.Context, dir string) (*pluginpb.CodeGeneratorRequest, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	if err != nil || len(found) == 0 {
		return nil, fmt.Errorf("no .proto files in %s: %w", dir, err)
	}
	var names []string
	for _, file := range found {
		names = append(names, path.Join(filepath.Base(dir), filepath.Base(file)))
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			ImportPaths: []string{filepath.Dir(dir)},
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names}
	seen := make(map[string]bool)
	for _, file := range files {
		request.ProtoFile = appendWithImports(request.ProtoFile, file, seen)
	}
	return request, nil
}

// appendWithImports adds a file after all that it imports: the order plugins
// insist on.
func appendWithImports(list []*descriptorpb.FileDescriptorProto, file protoreflect.FileDescriptor, seen map[string]bool) []*descriptorpb.FileDescriptorProto {
	if seen[file.Path()] {
		return list
	}
	seen[file.Path()] = true
	for i := range file.Imports().Len() {
		list = appendWithImports(list, file.Imports().Get(i).FileDescriptor, seen)
	}
	return append(list, protoutil.ProtoFromFileDescriptor(file))
}

func runPlugin(ctx context.Context, tool string, request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	input, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encode request for %s: %w", tool, err)
	}
	command := exec.CommandContext(ctx, "go", "tool", tool)
	command.Stdin = bytes.NewReader(input)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", tool, err)
	}
	response := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal(output, response); err != nil {
		return nil, fmt.Errorf("read answer of %s: %w", tool, err)
	}
	if response.Error != nil {
		return nil, fmt.Errorf("%s: %s", tool, response.GetError())
	}
	return response, nil
}
