// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { parseCsv } from '../../web/src/imports/csv.ts'
import { checkScreen, heading, startWeb, untilEqual, useWeb } from '../web.ts'
import { bookOf, zipOf } from '../zip.ts'

const web = useWeb()

const call = (method: string, path: string, body?: object) => web.rapport.call(method, `/api/v1${path}`, body)
const read = async (path: string) => (await call('GET', path)).body
const csv = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
const count = (page: Page, label: string) =>
  page.locator('.import-counts > div').filter({ hasText: label }).locator('dd').innerText()
const file = (page: Page) => page.locator('input[type=file]')
const ended = (page: Page, status = 'Done') =>
  page.getByRole('status').getByText(status, { exact: true }).waitFor()

test('a file is mapped, checked, imported and undone by mouse; the errors are a table and a file', async (t) => {
  const page = await web.open(t, '/contacts')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Import contacts' }).click()
  await heading(page, 'Import a file')
  const text =
    'Given Name,Family Name,E-mail,Firm,Shoe size\r\nAna,Ruiz,ana@acme.example,Acme,38\r\nBob,"Day, Jr.",not an address,Acme,44\r\nZoë,Ångström,zoe@acme.example,,\r\n'
  await file(page).setInputFiles(csv('people.csv', text))
  const row = (header: string) => page.getByRole('row').filter({ hasText: header })
  await row('Given Name').getByText('Ana').waitFor()
  const becomes = (header: string) => page.getByRole('combobox', { name: `${header} becomes` })
  await untilEqual(() => becomes('Given Name').inputValue(), 'First name')
  await untilEqual(() => becomes('Firm').inputValue(), 'Leave out')
  await becomes('Firm').click()
  await page.getByRole('option', { name: 'Company, by name' }).click()
  await page.getByRole('checkbox', { name: 'Make custom fields of the other columns' }).check()
  await page.locator('input[value="Custom field Shoe size"]').waitFor()
  await untilEqual(() => becomes('Firm').inputValue(), 'Company, by name')
  await checkScreen(page)

  await page.getByRole('button', { name: 'Check without writing' }).click()
  await ended(page)
  await page.getByText('The check wrote nothing.').waitFor()
  assert.deepEqual([await count(page, 'Created'), await count(page, 'With errors')], ['2', '1'])
  assert.equal((await read('/contacts')).meta.total, 0)

  await page.getByRole('button', { name: 'Start import' }).click()
  await heading(page, 'people.csv')
  await ended(page)
  assert.deepEqual([await count(page, 'Created'), await count(page, 'With errors')], ['2', '1'])
  const errors = page.getByRole('table', { name: 'Errors' })
  await errors.getByText('E-mail', { exact: true }).waitFor()
  await checkScreen(page)
  const downloading = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download all errors' }).click()
  const [, error] = parseCsv(readFileSync(await (await downloading).path(), 'utf8'))
  assert.deepEqual(parseCsv(error?.[3] ?? ''), [['Bob', 'Day, Jr.', 'not an address', 'Acme', '44']])

  const { data } = await read('/contacts?sort=id')
  assert.deepEqual(
    data.map((one: { last_name: string; company: { name: string } | null }) => [
      one.last_name,
      one.company?.name,
    ]),
    [
      ['Ruiz', 'Acme'],
      ['Ångström', undefined],
    ],
  )
  assert.deepEqual((await read(`/contacts/${data[0].id}`)).data.custom_fields, { 'Shoe size': '38' })

  // The result survives a reload, and a record that was changed since stays.
  await call('PUT', `/contacts/${data[0].id}`, { title: 'CTO' })
  await page.reload()
  await ended(page)
  await page.getByRole('button', { name: 'Undo import' }).click()
  await page
    .getByText(/^\d records? (is|are) as before the import\. \d records? (stays|stay) as (it is|they are)\.$/)
    .waitFor()
  const left = page.getByRole('listitem').filter({ hasText: 'changed since' })
  await untilEqual(() => left.innerText(), 'Ana Ruiz changed since')
  await untilEqual(() => left.getByRole('link').getAttribute('href'), `/contacts/${data[0].id}`)
  await ended(page, 'Undone')
  assert.equal((await read('/contacts')).meta.total, 1)
})

test('after an import, a sentence leads to the records, to what comes next, and to colleagues whom the file names', async (t) => {
  const page = await web.open(t, '/settings/imports/new?resource=companies')
  await file(page).setInputFiles(csv('vendors.csv', 'Name,Owner\r\nLamps & Sons,Nobody Here\r\n'))
  const next = page.getByText('What comes next:')
  await page.getByRole('button', { name: 'Check without writing' }).click()
  await page.getByText('The check wrote nothing.').waitFor()
  assert.equal(await next.count(), 0)
  await page.getByRole('button', { name: 'Start import' }).click()
  await untilEqual(
    () => next.innerText(),
    'What comes next: show companies, import contacts or invite your colleagues.',
  )
  await checkScreen(page)
  const hrefOf = (name: string) => next.getByRole('link', { name }).getAttribute('href')
  assert.equal(await hrefOf('show companies'), '/companies')
  assert.equal(await hrefOf('invite your colleagues'), '/settings/members')
  await next.getByRole('link', { name: 'import contacts' }).click()
  await heading(page, 'Import a file')
  await untilEqual(() => page.getByRole('combobox', { name: 'Rows become' }).inputValue(), 'Contacts')
})

test('a file is imported by keyboard alone, and updates what it matches', async (t) => {
  await call('POST', '/companies', { name: 'Lumen Optics', industry: 'Glass' })
  const page = await web.open(t, '/companies')
  await heading(page, 'Companies')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('import comp')
  await page.getByRole('option', { name: 'Import companies' }).waitFor()
  await page.keyboard.press('Enter')
  await heading(page, 'Import a file')
  const choosing = page.waitForEvent('filechooser')
  // Focuses it and presses at once: the new page may still move the focus to its heading.
  await page.getByRole('button', { name: /Drop a file here/ }).press('Enter')
  await (await choosing).setFiles(csv('firms.csv', 'Name;Industry\nLumen Optics;Lasers\nNew One;Wood\n'))
  await page.getByRole('combobox', { name: 'Industry becomes' }).waitFor()
  await page.getByRole('radio', { name: 'Create another one' }).focus()
  await page.keyboard.press('ArrowDown')
  await page.getByRole('combobox', { name: 'Found by' }).waitFor()
  const button = page.getByRole('button', { name: 'Start import' })
  for (let tabs = 0; tabs < 10; tabs++) {
    if (await button.evaluate((one) => one === one.ownerDocument.activeElement)) break
    await page.keyboard.press('Tab')
  }
  await page.keyboard.press('Enter')
  await heading(page, 'firms.csv')
  await ended(page)
  assert.deepEqual([await count(page, 'Created'), await count(page, 'Changed')], ['1', '1'])
  const { data } = await read('/companies?sort=id')
  assert.deepEqual(
    data.map(({ name, industry }: { name: string; industry: string }) => [name, industry]).slice(-2),
    [
      ['Lumen Optics', 'Lasers'],
      ['New One', 'Wood'],
    ],
  )
  await page.getByRole('link', { name: 'All imports' }).press('Enter')
  const list = page.getByRole('table', { name: 'Imports' })
  await list.getByRole('link', { name: 'firms.csv' }).waitFor()
  await checkScreen(page)
})

test('the tags of a file are added to those of a contact, or replace them by a checkbox', async (t) => {
  const person = { first_name: 'Ida', last_name: 'Tagged', email: 'ida@tags.example', tags: ['old'] }
  const { id } = (await call('POST', '/contacts', person)).body.data
  const importTags = async (tag: string, replaces: boolean) => {
    const page = await web.open(t, '/settings/imports/new?resource=contacts')
    await file(page).setInputFiles(csv(`${tag}.csv`, `E-mail,Tags\nida@tags.example,${tag}\n`))
    await page.getByRole('radio', { name: 'Change it' }).check()
    if (replaces) await page.getByRole('checkbox', { name: /^Replace the tags/ }).check()
    await page.getByRole('button', { name: 'Start import' }).click()
    await heading(page, `${tag}.csv`)
    await ended(page)
    return (await read(`/contacts/${id}`)).data.tags
  }
  assert.deepEqual(await importTags('fair', false), ['old', 'fair'])
  assert.deepEqual(await importTags('new', true), ['new'])
})

test('a sheet of a workbook is chosen, and imported with its numbers', async (t) => {
  const page = await web.open(t, '/settings/imports/new?resource=deals')
  const buffer = readFileSync(new URL('../fixtures/imports/sheets/xlsxwriter.xlsx', import.meta.url))
  await file(page).setInputFiles({ name: 'fair.xlsx', mimeType: '', buffer })
  const sheet = page.getByRole('combobox', { name: 'Sheet' })
  await untilEqual(() => sheet.inputValue(), 'People')
  await sheet.click()
  await page.getByRole('option', { name: 'Deals' }).click()
  await page.getByRole('combobox', { name: 'value becomes' }).waitFor()
  await checkScreen(page)
  await page.getByRole('button', { name: 'Start import' }).click()
  await heading(page, 'fair.xlsx')
  await ended(page)
  assert.deepEqual([await count(page, 'Created'), await count(page, 'With errors')], ['2', '1'])
  await page.getByText('Sheet: Deals · Header: row 1').waitFor()
  await page.getByText('A cell has an error of its formula.').waitFor()
})

/** A workbook whose sheets have the same header, each with one row. */
function bookWith(sheets: readonly (readonly string[])[]): Buffer {
  const rowOf = (cells: readonly string[]) =>
    `<row>${cells.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`
  const rowsOf = (cells: readonly string[]) => rowOf(['First name', 'Last name', 'E-mail']) + rowOf(cells)
  const book = bookOf(rowsOf(sheets[0] ?? []))
  const places = {
    workbook: 'xl/workbook.xml',
    relations: 'xl/_rels/workbook.xml.rels',
    one: 'xl/worksheets/sheet1.xml',
  }
  const [workbook = '', relations = '', one = ''] = Object.values(places).map((name) => book[name])
  const second = /<sheet .*?\/>/.exec(workbook)?.[0] ?? ''
  const relation = /<Relationship [^>]*sheet1.xml"\/>/.exec(relations)?.[0] ?? ''
  return zipOf({
    ...book,
    [places.workbook]: workbook.replace(
      second,
      second + second.replace('One', 'Two').replace('"1"', '"2"').replace('rId1', 'rId9'),
    ),
    [places.relations]: relations.replace(
      relation,
      relation + relation.replace('rId1', 'rId9').replace('sheet1', 'sheet2'),
    ),
    'xl/worksheets/sheet2.xml': one.replace(rowsOf(sheets[0] ?? []), rowsOf(sheets[1] ?? [])),
  })
}

test('a cell that was mended in one sheet changes no other sheet', async (t) => {
  const page = await web.open(t, '/settings/imports/new?resource=contacts')
  const buffer = bookWith([
    ['Ines', 'Sheet', 'no address'],
    ['Juan', 'Sheet', 'juan@sheet.example'],
  ])
  await file(page).setInputFiles({ name: 'two.xlsx', mimeType: '', buffer })
  await page.getByRole('button', { name: 'Check without writing' }).click()
  await ended(page)
  await page.getByRole('textbox', { name: 'E-mail, row 2' }).fill('ines@sheet.example')
  await page.getByText(/^1 mended cell is sent/).waitFor()
  await page.getByRole('combobox', { name: 'Sheet' }).click()
  await page.getByRole('option', { name: 'Two' }).click()
  await page.getByText('Juan').first().waitFor()
  await page.getByRole('button', { name: 'Start import' }).click()
  await heading(page, 'two.xlsx')
  await ended(page)
  const [made] = await web.read('/contacts?sort=-id')
  assert.deepEqual([made.first_name, made.email], ['Juan', 'juan@sheet.example'])
})

test('a guessed encoding is shown with a text of the file, and another one is chosen', async (t) => {
  const page = await web.open(t, '/settings/imports/new?resource=companies')
  const buffer = Buffer.from([...Buffer.from('Name\nAcme '), 0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x0a])
  await file(page).setInputFiles({ name: 'firms.csv', mimeType: 'text/csv', buffer })
  await page.getByText('The encoding is a guess. A text in it: Acme Ïðèâåò').waitFor()
  await page.getByRole('combobox', { name: 'Encoding' }).click()
  await page.getByRole('option', { name: 'windows-1251' }).click()
  await page.getByText('Acme Привет').waitFor()
  await page.getByRole('button', { name: 'Start import' }).click()
  await heading(page, 'firms.csv')
  await ended(page)
  await page.getByText('Encoding: windows-1251 · Header: row 1').waitFor()
  assert.equal((await read('/companies?sort=-id&per_page=1')).data[0].name, 'Acme Привет')
})

test('a file that cannot be read says why', async (t) => {
  const page = await web.open(t, '/settings/imports/new?resource=deals', { allow: /status of 400/ })
  await file(page).setInputFiles(csv('empty.csv', ''))
  await page.getByRole('alert').waitFor()
  await file(page).setInputFiles(csv('deals.csv', 'Name,Value\nRelaunch,1200.50\n'))
  await page.getByRole('combobox', { name: 'Value becomes' }).waitFor()
})

test('an import that waits shows it, also after a reload, and is cancelled', async (t) => {
  // No process of this service imports.
  const idle = await startWeb({ roles: ['api'] })
  t.after(idle.close)
  const page = await idle.open(t, '/settings/imports/new?resource=deals')
  await file(page).setInputFiles(csv('deals.csv', 'Name,Value\nRelaunch,1200.50\n'))
  await page.getByRole('combobox', { name: 'Value becomes' }).waitFor()
  await page.getByRole('button', { name: 'Start import' }).click()
  await heading(page, 'deals.csv')
  await ended(page, 'Waiting')
  await page.reload()
  await page.getByRole('progressbar', { name: 'Progress' }).waitFor()
  await page.getByRole('button', { name: 'Cancel import' }).click()
  await ended(page, 'Cancelled')
  await untilEqual(() => page.getByRole('button', { name: 'Undo import' }).count(), 0)
})

test('cells with commas, quotes and line breaks are read', () => {
  assert.deepEqual(parseCsv('a,b\r\n"1,2","say ""hi""\r\nthere"\r\n,\r\n'), [
    ['a', 'b'],
    ['1,2', 'say "hi"\r\nthere'],
    ['', ''],
  ])
  assert.deepEqual(parseCsv('a,b'), [['a', 'b']])
  assert.deepEqual(parseCsv('a,,'), [['a', '', '']])
  assert.deepEqual(parseCsv(''), [])
})

test('the archive of a workspace is dropped, counted by kind, checked, imported and undone by keyboard', async (t) => {
  await call('POST', '/companies', { name: 'Nordwind Logistik GmbH & Co. KG' })
  for (const first_name of ['Ana', 'Zoë']) await call('POST', '/contacts', { first_name, last_name: 'Ruiz' })
  const totals = async () => [(await read('/companies')).meta.total, (await read('/contacts')).meta.total]
  const [companies, contacts] = await totals()
  const headers = { authorization: `Bearer ${web.rapport.key}` }
  const exported = await fetch(`${web.rapport.url}/api/v1/workspace/export`, { headers })
  const bytes = [...new Uint8Array(await exported.arrayBuffer())]

  const page = await web.open(t, '/settings/imports/new?resource=workspace')
  await heading(page, 'Import a file')
  const dropped = await page.evaluateHandle((content) => {
    // biome-ignore lint/suspicious/noExplicitAny: a type of browsers only
    const transfer = new (globalThis as any).DataTransfer()
    transfer.items.add(new File([new Uint8Array(content)], 'nordwind.tar.gz', { type: 'application/gzip' }))
    return transfer
  }, bytes)
  await page.getByRole('button', { name: /Drop a file/ }).dispatchEvent('drop', { dataTransfer: dropped })
  const content = page.getByRole('table', { name: 'What the archive has' })
  await content.waitFor()
  const rows = await content.getByRole('row').allInnerTexts()
  assert.ok(rows.includes(`Companies\t${companies}`) && rows.includes(`Contacts\t${contacts}`), rows.join())
  await checkScreen(page)

  await page.getByRole('button', { name: 'Check without writing' }).focus()
  await page.keyboard.press('Enter')
  await ended(page)
  await page.getByText('The check wrote nothing.').waitFor()
  const numbersOf = (kind: string) =>
    page
      .getByRole('table', { name: 'Numbers by kind' })
      .getByRole('row', { name: new RegExp(`^${kind} \\d`) })
      .innerText()
  assert.equal(await numbersOf('Companies'), `Companies\t${companies}\t${companies}\t0\t0`)
  assert.deepEqual(await totals(), [companies, contacts])
  await page.getByRole('button', { name: 'Start import' }).focus()
  await page.keyboard.press('Enter')
  await heading(page, 'nordwind.tar.gz')
  await ended(page)
  await untilEqual(() => count(page, 'With errors'), '0')
  assert.equal(await numbersOf('Contacts'), `Contacts\t${contacts}\t${contacts}\t0\t0`)
  await page.getByText('Members are not imported.').waitFor()
  await checkScreen(page)
  assert.deepEqual(await totals(), [companies * 2, contacts * 2])

  await page.getByRole('button', { name: 'Undo import' }).focus()
  await page.keyboard.press('Enter')
  await ended(page, 'Undone')
  assert.deepEqual(await totals(), [companies, contacts])
})

test('the page names the program of a file, offers its kind, and a check says in a sentence what would become of its values', async (t) => {
  const page = await web.open(t, '/settings/imports/new?resource=contacts')
  const deals = readFileSync(new URL('../fixtures/imports/pipedrive-deals.csv', import.meta.url))
  await file(page).setInputFiles({ name: 'deals.csv', mimeType: 'text/csv', buffer: deals })
  await page.getByText('This is a file of Pipedrive with deals.').waitFor()
  await page.getByRole('button', { name: 'Import deals' }).click()
  await page.getByText(/^Recognised by the columns Deal - /).waitFor()
  const becomes = (header: string) => page.getByRole('combobox', { name: `${header} becomes` })
  await untilEqual(() => becomes('Deal - Status').inputValue(), 'Open, won or lost')
  await untilEqual(() => becomes('Deal - Contact person').inputValue(), 'Contact, by name or e-mail')
  await page.getByRole('combobox', { name: 'Time zone of times in the file' }).waitFor()
  await checkScreen(page)
  await page.getByRole('button', { name: 'Check without writing' }).click()
  await ended(page)
  const sentence = /^\d+ values: \d+ would be stored as they are, \d+ in another form, \d+ left out\.$/
  await page.getByText(sentence).waitFor()
  const account = page.getByRole('table', { name: 'What would become of the values' })
  const pipeline = page.getByRole('rowheader', { name: 'Deal - Pipeline', exact: true })
  await account
    .getByRole('row')
    .filter({ has: pipeline })
    .getByText(/no field takes it/)
    .waitFor()
  await checkScreen(page)
})
