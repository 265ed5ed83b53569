package browsertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Open goes to a page and waits until it has loaded.
func (b *Browser) Open(ctx context.Context, url string) error {
	b.forgetLoads()
	var went struct{ ErrorText string }
	if err := b.call(ctx, "Page.navigate", map[string]string{"url": url}, &went); err != nil {
		return err
	}
	if went.ErrorText != "" {
		return fmt.Errorf("open the page: %s", went.ErrorText)
	}
	return b.awaitLoad(ctx)
}

// Press clicks the button with that text where a person would, and waits for
// the page that follows.
func (b *Browser) Press(ctx context.Context, button string) error {
	name, err := json.Marshal(button)
	if err != nil {
		return fmt.Errorf("press %q: %w", button, err)
	}
	var at *struct{ X, Y float64 }
	if err := b.evaluate(ctx, `(() => {
		const b = [...document.querySelectorAll("button")].find(b => b.innerText.trim() === `+string(name)+`);
		if (!b) return null;
		b.scrollIntoView();
		const r = b.getBoundingClientRect();
		return {x: r.x + r.width / 2, y: r.y + r.height / 2};
	})()`, &at); err != nil {
		return err
	}
	if at == nil {
		return fmt.Errorf("press %q: the page has no such button", button)
	}
	b.forgetLoads()
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		err := b.call(ctx, "Input.dispatchMouseEvent", map[string]any{
			"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1,
		}, nil)
		if err != nil {
			return err
		}
	}
	return b.awaitLoad(ctx)
}

// Text is what the page shows.
func (b *Browser) Text(ctx context.Context) (string, error) {
	var text string
	err := b.evaluate(ctx, "document.body.innerText", &text)
	return text, err
}

// evaluate runs a script in the page and decodes its value.
func (b *Browser) evaluate(ctx context.Context, script string, into any) error {
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	if err := b.call(ctx, "Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true}, &got); err != nil {
		return err
	}
	if got.ExceptionDetails != nil || got.Result.Value == nil {
		return errors.New("read the page: the script failed")
	}
	return json.Unmarshal(got.Result.Value, into)
}

func (b *Browser) forgetLoads() {
	select {
	case <-b.loads:
	default:
	}
}

func (b *Browser) awaitLoad(ctx context.Context) error {
	select {
	case <-b.loads:
		return nil
	case <-b.gone:
		return errors.New("load the page: the browser is gone")
	case <-ctx.Done():
		return fmt.Errorf("load the page: %w", context.Cause(ctx))
	}
}
