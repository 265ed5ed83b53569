package assets

import _ "embed"

//go:embed prices.json
var prices string

// Prices returns the table of models and what Cursor charges for them, in the
// form that package cursor reads: "rates" holds what a request costs whose
// prompt has more tokens than "above", "fast" the same for the fast variant.
// "same_price" are other models that cost as much. A missing price for reading
// or writing the cache means that it costs what input does; a model without
// rates has no known price. "status" and "fast_status" tell people how sure a
// row is: Cursor's own table if missing, else the vendor's list price, sources
// that disagree, worked out from another row, or of old times.
func Prices() []byte { return []byte(prices) }
