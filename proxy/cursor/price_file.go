package cursor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"cursortray/proxy/money"
)

const (
	pricesFormat = 1
	maxPrices    = 1 << 20 // bytes of a file; the one that comes with the program has 13 thousand
)

// priceFile is the table as JSON. Other fields are for people and ignored.
type priceFile struct {
	Format       int        `json:"format"`
	AsOf         string     `json:"as_of"`
	TeamFee      decimal    `json:"team_fee"`
	LegacyFactor decimal    `json:"legacy_max_mode_factor"`
	Models       []priceDef `json:"models"`
}

type priceDef struct {
	ID        string    `json:"id"`
	Pool      string    `json:"pool"`
	Names     []string  `json:"names"`
	SamePrice []string  `json:"same_price"`
	Window    int       `json:"window"`
	MaxWindow int       `json:"max_window"`
	Images    bool      `json:"images"`
	Rates     []rateDef `json:"rates"`
	Fast      []rateDef `json:"fast"`
}

type rateDef struct {
	Above      int      `json:"above"`
	Input      decimal  `json:"input"`
	Output     decimal  `json:"output"`
	CacheRead  *decimal `json:"cache_read"`
	CacheWrite *decimal `json:"cache_write"`
}

// decimal is a number with all its digits, as a text or a number of JSON.
type decimal string

// UnmarshalJSON implements json.Unmarshaler.
func (d *decimal) UnmarshalJSON(data []byte) error {
	*d = decimal(bytes.Trim(data, `"`))
	return nil
}

// ParsePrices reads a table in the form of the one that comes with the program.
func ParsePrices(data []byte) (*Prices, error) {
	var file priceFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("it is not the JSON of a price table: %w", err)
	}
	if file.Format != pricesFormat {
		return nil, fmt.Errorf("its format is %d, and this program reads %d", file.Format, pricesFormat)
	}
	p := &Prices{rows: make([]priceRow, len(file.Models)), names: map[string]priceName{}}
	var err error
	if p.asOf, err = time.Parse(time.DateOnly, file.AsOf); err != nil {
		return nil, fmt.Errorf("as_of %q is no date such as 2026-10-31", file.AsOf)
	}
	if p.teamFee, err = money.ParseDecimal(string(file.TeamFee), rateDigits); err != nil || p.teamFee > maxRate {
		return nil, fmt.Errorf("team_fee: %w", money.ErrDecimal)
	}
	if p.legacyFactor, err = money.ParseDecimal(string(file.LegacyFactor), 2); err != nil || p.legacyFactor == 0 || p.legacyFactor > 100_00 {
		return nil, fmt.Errorf("legacy_max_mode_factor: %w", money.ErrDecimal)
	}
	if len(file.Models) == 0 {
		return nil, errors.New("it has no models")
	}
	for i, def := range file.Models {
		if err := p.addRow(&p.rows[i], def); err != nil {
			return nil, fmt.Errorf("model %q: %w", def.ID, err)
		}
	}
	return p, nil
}

func (p *Prices) addRow(row *priceRow, def priceDef) error {
	const maxTokens = 1_000_000_000
	if def.Window < 0 || def.Window > maxTokens || def.MaxWindow < 0 || def.MaxWindow > maxTokens {
		return errors.New("its window is out of reach")
	}
	if def.Pool != "cursor" && def.Pool != "other" {
		return fmt.Errorf(`its pool is %q, neither "cursor" nor "other"`, def.Pool)
	}
	row.figures = Figures{
		ID: def.ID, Window: def.Window, MaxWindow: def.MaxWindow, Images: def.Images, CursorPool: def.Pool == "cursor",
	}
	var err error
	if row.rates, err = readCard(def.Rates); err != nil {
		return fmt.Errorf("rates: %w", err)
	}
	if row.fast, err = readCard(def.Fast); err != nil {
		return fmt.Errorf("fast: %w", err)
	}
	add := func(name string, only bool) error {
		if _, taken := p.names[name]; taken {
			return fmt.Errorf("there are two models with the name %q", name)
		}
		if !validID(name) || name != strings.ToLower(name) {
			return fmt.Errorf("%q is no id in lower case", name)
		}
		p.names[name] = priceName{row, only}
		return nil
	}
	err = add(def.ID, false)
	for _, name := range def.Names {
		err = errors.Join(err, add(name, false))
	}
	for _, name := range def.SamePrice {
		err = errors.Join(err, add(name, true))
	}
	return err
}

func readCard(defs []rateDef) (rateCard, error) {
	var card rateCard
	for i, def := range defs {
		if i == 0 && def.Above != 0 || i > 0 && def.Above <= card[i-1].above {
			return nil, errors.New(`"above" has to grow, from 0`)
		}
		r := rates{above: def.Above, hasRead: def.CacheRead != nil, hasWrite: def.CacheWrite != nil}
		var err error
		if r.input, err = readRate(def.Input); err != nil || r.input == 0 {
			return nil, fmt.Errorf("input: %w", money.ErrDecimal)
		}
		if r.output, err = readRate(def.Output); err != nil || r.output == 0 {
			return nil, fmt.Errorf("output: %w", money.ErrDecimal)
		}
		r.cacheRead, r.cacheWrite = r.input, r.input
		if r.hasRead {
			if r.cacheRead, err = readRate(*def.CacheRead); err != nil {
				return nil, fmt.Errorf("cache_read: %w", err)
			}
		}
		if r.hasWrite {
			if r.cacheWrite, err = readRate(*def.CacheWrite); err != nil {
				return nil, fmt.Errorf("cache_write: %w", err)
			}
		}
		card = append(card, r)
	}
	return card, nil
}

func readRate(d decimal) (int64, error) {
	rate, err := money.ParseDecimal(string(d), rateDigits)
	if err != nil || rate > maxRate {
		return 0, money.ErrDecimal
	}
	return rate, nil
}

// OrFile returns the table in the file at path if it is newer than p, else p
// itself; it is never nil. The error says why a file that is there is not
// used.
func (p *Prices) OrFile(path string) (*Prices, error) {
	file, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("the price table is not used: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPrices+1))
	if err == nil && len(data) > maxPrices {
		err = errors.New("it is too large")
	}
	var newer *Prices
	if err == nil {
		newer, err = ParsePrices(data)
	}
	if err == nil && !newer.asOf.After(p.asOf) {
		err = fmt.Errorf("it is as of %s, no newer than the one of the program, %s", newer.AsOf(), p.AsOf())
	}
	if err != nil {
		return p, fmt.Errorf("the price table %s is not used: %w", path, err)
	}
	return newer, nil
}
