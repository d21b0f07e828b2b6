// The minor units of ISO 4217. Browsers have those of CLDR, by which prices in some of these currencies are rounded.
const others: [digits: number, codes: string][] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  // Metals and units of account have no minor unit.
  [0, 'XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
]

/** The number of decimals of amounts in a currency. */
export const currencyDigits = (currency: string): number =>
  others.find(([, codes]) => codes.includes(currency))?.[0] ?? 2
