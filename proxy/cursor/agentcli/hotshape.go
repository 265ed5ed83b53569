package agentcli

import "bytes"

// hotShapes remembers how the last hot lines looked around their text: within
// a run only the text and the time of sending change from one to the next. A
// line of a known shape is recognised by comparing bytes, which costs a
// fraction of the key scan and means the same.
type hotShapes struct {
	shapes [2]hotShape // assistant, thinking
}

func (m *hotShapes) assistant() *hotShape { return &m.shapes[0] }

// hotShape is head, text, tail, digits of the time, end.
type hotShape struct {
	head, tail, end []byte
	session         []byte
	line            hotLine // without text and session
}

// scan is scanHot with a memory.
func (m *hotShapes) scan(line []byte) (hotLine, bool) {
	for i := range m.shapes {
		if h, ok := m.shapes[i].match(line); ok {
			return h, true
		}
	}
	s := hotScan{b: line}
	h, ok := s.line()
	if ok && h.delta && s.stampAt > s.text.at {
		shape := m.assistant()
		if h.thinking {
			shape = &m.shapes[1]
		}
		shape.learn(&s, h)
	}
	return h, ok
}

func (shape *hotShape) learn(s *hotScan, h hotLine) {
	textEnd := s.text.at + len(s.text.body)
	shape.head = append(shape.head[:0], s.b[:s.text.at]...)
	shape.tail = append(shape.tail[:0], s.b[textEnd:s.stampAt]...)
	shape.end = append(shape.end[:0], s.b[s.stampEnd:]...)
	shape.session = append(shape.session[:0], h.session...)
	shape.line = hotLine{thinking: h.thinking, delta: h.delta}
}

// begins reports whether a line has the shape up to its text.
func (shape *hotShape) begins(line []byte) bool {
	return len(shape.head) > 0 && bytes.HasPrefix(line, shape.head)
}

func (shape *hotShape) match(line []byte) (hotLine, bool) {
	if !shape.begins(line) {
		return hotLine{}, false
	}
	s := hotScan{b: line, i: len(shape.head) - 1} // at the opening quote
	text, ok := s.str()
	if !ok || !validBody(text) {
		return hotLine{}, false
	}
	s.i-- // the tail begins with the closing quote
	if !bytes.HasPrefix(line[s.i:], shape.tail) {
		return hotLine{}, false
	}
	s.i += len(shape.tail)
	if !s.digits() || !bytes.Equal(line[s.i:], shape.end) {
		return hotLine{}, false
	}
	h := shape.line
	h.text, h.escaped, h.session = text.body, text.escaped, shape.session
	return h, true
}
