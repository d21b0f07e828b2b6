import { preferredLanguage } from '../texts/parts.ts'

const browser_zone = Intl.DateTimeFormat().resolvedOptions().timeZone

const euro = 'AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK AD MC SM VA ME XK'.split(' ')
const currencies: Record<string, string> = {
  ...Object.fromEntries(euro.map((region) => [region, 'EUR'])),
  US: 'USD',
  GB: 'GBP',
  CH: 'CHF',
  LI: 'CHF',
  SE: 'SEK',
  NO: 'NOK',
  DK: 'DKK',
  PL: 'PLN',
  CZ: 'CZK',
  HU: 'HUF',
  RO: 'RON',
  IS: 'ISK',
  TR: 'TRY',
  UA: 'UAH',
  CA: 'CAD',
  AU: 'AUD',
  NZ: 'NZD',
  JP: 'JPY',
  CN: 'CNY',
  HK: 'HKD',
  SG: 'SGD',
  IN: 'INR',
  KR: 'KRW',
  BR: 'BRL',
  MX: 'MXN',
  ZA: 'ZAR',
  IL: 'ILS',
  AE: 'AED',
  SA: 'SAR',
  NG: 'NGN',
  KE: 'KES',
  EG: 'EGP',
  TH: 'THB',
  ID: 'IDR',
  MY: 'MYR',
  PH: 'PHP',
}

/** The currency of the browser's country, if known. */
function guessCurrency(): string {
  for (const tag of navigator.languages) {
    const { region } = new Intl.Locale(tag)
    const currency = region && currencies[region]
    if (currency) return currency
  }
  return browser_zone.startsWith('America/') ? 'USD' : 'EUR'
}

/** Zone, language and currency of the browser, as defaults. */
export const guessDefaults = () => ({
  time_zone: browser_zone,
  language: preferredLanguage(),
  currency: guessCurrency(),
})
