// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ana, fieldOf, openPage, unescaped, visitor } from '../booking.ts'
import { turnableClock, useRapport } from '../harness.ts'

const rapport = useRapport({ clock: turnableClock() })

const monday = '2026-11-23T08:00:00.000Z'

/** The text of a page, without the names of zones. */
const said = (text: string) =>
  [...text.replaceAll(/<option.*?<\/select>/gs, '').matchAll(/>([^<>]*\p{L}{2}[^<>]*)</gu)].map(([, part]) =>
    unescaped(part as string).trim(),
  )

test('a German visitor chooses, errs, books, moves and cancels in German, with German dates', async () => {
  const { path, get } = await openPage(rapport, { title: '45/9', approval: true })
  const german = visitor(rapport.url, { 'accept-language': 'de-AT,de;q=0.9,en-US;q=0.8' })
  const places: [string, RegExp][] = [
    [path, /<h2 id="day" tabindex="-1">Montag, 23. November<\/h2>/],
    [`${path}?slot=${monday}`, /<strong>Montag, 23. November 2026<\/strong>/],
    ['/book/no-such-page', /<h1>Hier ist nichts<\/h1>/],
  ]
  async function isGerman(place: string, shows: RegExp) {
    const [page, english] = [await german.get(place), await get(place)]
    assert.match(page.text, /^<!doctype html>\n<html lang="de">/)
    assert.match(page.text, shows)
    assert.deepEqual(
      said(page.text).filter(
        (text) =>
          said(english.text).includes(text) &&
          !/^\W*\d|Europe|^My workspace$|^November 2026$|^(Mo|Fr|Sa)$/.test(text),
      ),
      [],
      place,
    )
    return page
  }
  for (const [place, shows] of places) await isGerman(place, shows)

  const wrong = await german.post(path, {
    ...ana,
    slot: monday,
    first_name: ' ',
    email: 'ana',
    phone: '1'.repeat(65),
  })
  assert.equal(wrong.status, 422)
  for (const problem of [
    '3 Angaben fehlen oder passen nicht',
    'Füllen Sie das Feld „Vorname“ aus.',
    'Geben Sie eine E-Mail-Adresse wie ana.ruiz@example.com an.',
    'Das Feld „Telefon“ fasst höchstens 64 Zeichen.',
  ])
    assert.ok(said(wrong.text).includes(problem), `${problem}\n${said(wrong.text).join('\n')}`)

  const form = await german.get(`${path}?slot=${monday}`)
  const booked = await german.post(path, { ...ana, slot: monday, token: fieldOf(form.text, 'token') })
  assert.equal(booked.status, 303, booked.text)
  const taken = await german.post(path, { ...ana, slot: monday })
  assert.match(taken.text, /<h2>Diese Zeit ist nicht mehr frei<\/h2>/)
  const [link = ''] = booked.location.split('?')
  await isGerman(link, /<h1>Ihre Anfrage ist gesendet<\/h1>/)
  await isGerman(`${link}/move`, /<h1>Neue Zeit wählen<\/h1>/)
  await isGerman(`${link}/move?slot=2026-11-23T09:00:00.000Z`, /<h1>Diesen Termin verschieben\?<\/h1>/)
  await isGerman(`${link}/cancel`, /<h1>Diesen Termin absagen\?<\/h1>/)
  const file = (await german.get(`${link}/calendar.ics`)).text.replaceAll('\r\n ', '')
  assert.match(file, /DESCRIPTION:Noch nicht bestätigt\. Absagen oder verschieben: /)
  await german.post(`${link}/cancel`, { reason: 'Krank' })
  await isGerman(link, /<h1>Diese Anfrage wurde nicht angenommen<\/h1>/)
})

test('the language is the first of the visitor that the pages have, else English', async () => {
  const { path, get } = await openPage(rapport)
  for (const [languages, lang] of [
    ['de', 'de'],
    ['fr-CH,de;q=0.8,en;q=0.7', 'de'],
    ['en-GB,de;q=0.9', 'en'],
    ['de;q=0,fr', 'en'],
    ['den', 'en'],
  ] as const)
    assert.match(
      (await get(path, { 'accept-language': languages })).text,
      new RegExp(`<html lang="${lang}">`),
    )
})

test('the weeks of the calendar begin with the first day of the visitor’s region', async () => {
  const { path } = await openPage(rapport)
  const weekOf23 = async (languages: string) => {
    const { text } = await visitor(rapport.url, { 'accept-language': languages }).get(path)
    const [week] = text.match(/<tr>(?:(?!<tr>).)*id="d23".*?<\/tr>/s) ?? []
    return [
      /<abbr title="(\w+)">/.exec(text)?.[1],
      ...(week?.matchAll(/>(\d+)</g) ?? []).map(([, day]) => day),
    ].slice(0, 3)
  }
  // 23 November 2026 is a Monday.
  assert.deepEqual(await weekOf23('en-US,en'), ['Sunday', '22', '23'])
  assert.deepEqual(await weekOf23('en-GB,en'), ['Monday', '23', '24'])
  assert.deepEqual(await weekOf23('de'), ['Montag', '23', '24'])
})
