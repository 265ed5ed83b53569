package cursor

import (
	"sync"

	"cursortray/proxy/chat"
)

// LatePrices is a table of prices that is read at its first use.
type LatePrices struct{ table func() *Prices }

// NewLatePrices returns a table that read gives when it is needed, once.
func NewLatePrices(read func() *Prices) *LatePrices {
	return &LatePrices{table: sync.OnceValue(read)}
}

// Figures implements PriceTable.
func (l *LatePrices) Figures(name string) (Figures, bool) { return l.table().Figures(name) }

// Price implements PriceTable.
func (l *LatePrices) Price(id string, fast bool) (chat.Price, bool) { return l.table().Price(id, fast) }

// Cost is that of the table.
func (l *LatePrices) Cost(c Charge) (Cost, bool) { return l.table().Cost(c) }

// AsOf returns the date of the newest price, such as "2026-10-10"; "" of an
// empty table.
func (l *LatePrices) AsOf() string {
	if p := l.table(); !p.asOf.IsZero() {
		return p.AsOf()
	}
	return ""
}

var _ PriceTable = (*LatePrices)(nil)
