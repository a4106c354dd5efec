// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Values of the placeholders of one object: see tests/bench/shapes/README.md.
type values struct {
	number, namespace, policy, group, spread, generation, version int
	kind, lowerKind, apiVersion, cluster                          string
	bound, applied, evicted                                       bool
}

// A piece appends its text for the values of an object.
type piece func(out []byte, v *values) []byte

// A shape as pieces, read from a file once.
type shape []piece

// shapes are those of one folder, by the name of their file.
type shapes struct {
	folder string
	byName map[string]shape
}

var (
	placeholder = regexp.MustCompile(`\{\{([#/]?)([a-z-]+)(?::(\d+))?\}\}`)
	token       = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[ \n]+`)
)

func (s shape) expand(out []byte, v *values) []byte {
	for _, add := range s {
		out = add(out, v)
	}
	return out
}

// The shape of that name. Panics if its file is wrong: the files belong to this repository.
func (s *shapes) get(name string) shape {
	if found, is := s.byName[name]; is {
		return found
	}
	text, err := os.ReadFile(filepath.Join(s.folder, name+".json"))
	if err != nil {
		panic(err)
	}
	// White space between tokens goes, strings stay.
	compact := token.ReplaceAllFunc(text, func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		return nil
	})
	s.byName[name] = s.parse(string(compact))
	return s.byName[name]
}

func (s *shapes) parse(text string) (parsed shape) {
	for text != "" {
		at := placeholder.FindStringSubmatchIndex(text)
		if at == nil {
			return append(parsed, literal(text))
		}
		parsed = append(parsed, literal(text[:at[0]]))
		mark, name, width := text[at[2]:at[3]], text[at[4]:at[5]], 0
		if at[6] >= 0 {
			width, _ = strconv.Atoi(text[at[6]:at[7]])
		}
		text = text[at[1]:]
		if mark == "#" {
			content, after, found := strings.Cut(text, "{{/"+name+"}}")
			if !found {
				panic("no end of " + name)
			}
			parsed, text = append(parsed, condition(name, s.parse(content))), after
		} else {
			parsed = append(parsed, s.value(name, width))
		}
	}
	return parsed
}

func literal(text string) piece {
	return func(out []byte, _ *values) []byte { return append(out, text...) }
}

func condition(name string, content shape) piece {
	holds, is := map[string]func(*values) bool{
		"bound":   func(v *values) bool { return v.bound },
		"applied": func(v *values) bool { return v.applied },
		"evicted": func(v *values) bool { return v.evicted },
	}[name]
	if !is {
		panic("no condition " + name)
	}
	return func(out []byte, v *values) []byte {
		if holds(v) {
			return content.expand(out, v)
		}
		return out
	}
}

func number(of func(*values) int, width int) piece {
	return func(out []byte, v *values) []byte {
		from := len(out)
		out = strconv.AppendInt(out, int64(of(v)), 10)
		if missing := width - (len(out) - from); missing > 0 {
			digits := append([]byte{}, out[from:]...)
			out = append(append(out[:from], bytes.Repeat([]byte("0"), missing)...), digits...)
		}
		return out
	}
}

func (s *shapes) value(name string, width int) piece {
	numbers := map[string]func(*values) int{
		"number": func(v *values) int { return v.number }, "namespace": func(v *values) int { return v.namespace },
		"policy": func(v *values) int { return v.policy }, "group": func(v *values) int { return v.group },
		"spread": func(v *values) int { return v.spread }, "generation": func(v *values) int { return v.generation },
		"version": func(v *values) int { return v.version },
	}
	texts := map[string]func(*values) string{
		"kind": func(v *values) string { return v.kind }, "lower-kind": func(v *values) string { return v.lowerKind },
		"api-version": func(v *values) string { return v.apiVersion }, "cluster": func(v *values) string { return v.cluster },
	}
	if of, is := numbers[name]; is {
		return number(of, width)
	}
	if of, is := texts[name]; is {
		return func(out []byte, v *values) []byte { return append(out, of(v)...) }
	}
	if of, is := strings.CutSuffix(name, "-text"); is {
		content := s.get(of)
		return func(out []byte, v *values) []byte {
			return appendEscaped(out, content.expand(nil, v))
		}
	}
	content := s.get(name)
	return func(out []byte, v *values) []byte { return content.expand(out, v) }
}

// The text as the content of a JSON string.
func appendEscaped(out, text []byte) []byte {
	for _, c := range text {
		if c == '"' || c == '\\' {
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return out
}

func kindName(number int) string {
	if number == 0 {
		return "Deployment"
	}
	return fmt.Sprintf("Thing%d", number)
}
