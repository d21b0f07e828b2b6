// runs: once
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { posix } from 'node:path'
import { test } from 'node:test'
import type { Path, Target } from '../../web/src/app/addresses.ts'
import { form, importsOf, read, root } from '../source-files.ts'

const files = globSync('web/src/**/*.{ts,tsx}', { cwd: root }).map((file) => file.replaceAll('\\', '/'))

test('the web app imports nothing of the service, and no room of it the pages of another one', () => {
  const wrong: string[] = []
  for (const file of files)
    for (const from of importsOf(file).filter((from) => from.startsWith('.'))) {
      const target = posix.join(posix.dirname(file), from)
      const [, , room, ...rest] = target.split('/')
      // The frame, the client, the pieces and the texts are everybody's.
      const own = room === file.split('/')[2] || /^(app|api|ui|record|texts)$/.test(String(room))
      if (!target.startsWith('web/src/')) wrong.push(`${file} imports ${target}`)
      else if (!own && rest.join('/').includes('-page.') && file !== 'web/src/app/router.tsx')
        wrong.push(`${file} imports the page ${target}`)
    }
  assert.deepEqual(wrong, [])
  assert.ok(files.length > 40)
})

test('a page that is left, or asks for something else, cancels what it reads', () => {
  const queries = files.flatMap((file) =>
    [...read(file).matchAll(/queryFn: ?(.*(?:\n.*)?)/g)].map(([, text = '']) => `${file}: ${text}`),
  )
  // A program stays loaded. The last two are types.
  const left_out = /\bsignal\b|\bloaded\(|Aborted\b/
  assert.deepEqual(
    queries.filter((text) => !left_out.test(text)),
    [],
  )
  assert.ok(queries.length > 60)
})

test('the parts of the web app import nothing in a circle, its shared parts no room, and its list of contacts no other room', () => {
  // Static imports, which load at the start. A dynamic import is a separate page or dialog.
  const fixed = new Map(
    files.map((file) => {
      const found = [...read(file).matchAll(form)].flatMap(([text, from]) =>
        from?.startsWith('.') && !/^(import|export) type /.test(text) ? [from] : [],
      )
      return [file, found.map((from) => posix.join(posix.dirname(file), from))]
    }),
  )
  const circles: string[] = []
  const done = new Set<string>()
  function follow(file: string, way: string[]) {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' → '))
    if (way.includes(file) || done.has(file)) return
    for (const next of fixed.get(file) ?? []) follow(next, [...way, file])
    done.add(file)
  }
  for (const file of files) follow(file, [])
  assert.deepEqual(circles, [])

  const shared = files.filter((file) => /^web\/src\/(api|record|ui)\//.test(file))
  const rooms = shared.flatMap((file) => (fixed.get(file) ?? []).map((target) => target.split('/')[2]))
  assert.deepEqual([...new Set(rooms)].sort(), ['api', 'app', 'record', 'texts', 'ui'])

  const reached = new Set<string>()
  function reach(file: string) {
    if (reached.has(file)) return
    reached.add(file)
    for (const next of fixed.get(file) ?? []) reach(next)
  }
  reach('web/src/contacts/contacts-page.tsx')
  assert.ok(reached.size > 40)
  const reached_rooms = [...reached].map((file) => file.split('/')[2])
  assert.deepEqual([...new Set(reached_rooms)].sort(), ['api', 'app', 'contacts', 'record', 'texts', 'ui'])
})

test('each address that the web app names has a page', () => {
  const routed = [...read('web/src/app/router.tsx').matchAll(/^ +\[?'(\/[^']*)'[:,]/gm)].map(
    ([, path]) => path,
  )
  const kinds = files
    .filter((file) => /\/kind\.tsx?$/.test(file))
    .flatMap((file) => [...read(file).matchAll(/^ {2}path: '(.+)'/gm)].map(([, path]) => path))
  const of_records = kinds.flatMap((path) =>
    ['', '/$id', '/duplicates', '/$id/merge'].map((end) => path + end),
  )
  const pages = [...routed, ...of_records].map((path) => new RegExp(`^${path?.replace(/\$\w+/g, '[^/]+')}$`))
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/\b(?:to|href)(?:=\{?|: )(['"`])(\/[a-z][^'"`]*)\1/g)].map(
      ([, , text = '']) => [file, text.replace(/\$\{[^}]*\}/g, '1').replace(/[?#].*/, '')] as const,
    ),
  )
  // The service answers these, and sign-in is a document of its own.
  const of_app = named.filter(([, address]) => !/^\/(api|docs|book|sign-in)\b/.test(address))
  const lost = of_app.filter(([, address]) => !pages.some((page) => page.test(address)))
  assert.deepEqual(lost, [])
  assert.ok(of_app.length > 40 && pages.length > 40)
})

test('links and navigations take an address of the types of the app, not any text', () => {
  const of_router =
    /import (?:\* as \w+|\{[^}]*\b(?:Link|Navigate|useNavigate|redirect)\b[^}]*\}) from '@tanstack\/react-router'/
  const of_instance =
    /\.(?:navigate|buildLocation)\(|\{[^{}]*\b(?:navigate|buildLocation)\b[^{}]*\} = useRouter\(/
  const untyped = files.filter((file) => of_router.test(read(file)) || of_instance.test(read(file)))
  // The second one links to the path of a kind. The last one stays on its page, and changes its search parameters.
  const known = ['web/src/app/link.ts', 'web/src/record/views/views.tsx', 'web/src/ui/list-view.ts']
  assert.deepEqual(untyped.sort(), known)
})

test('an address without a page, or with a search parameter that its page does not have, is a compile error', () => {
  // tsc reports an expected error that does not occur.
  const to = <P extends Path>({ to }: Target<P>) => to
  const id = 1 as number
  const known = [
    to({ to: '/' }),
    to({ to: `/contacts/${id}`, search: { tab: 'notes' } }),
    to({ to: '/deals', search: { view: 'table', stage: 'demo', 'custom_fields[region]': 'North' } }),
    to({ to: '/calendar', search: { show: 'week', date: '2026-03-02' } }),
    to({ to: '/settings/imports/new', search: { resource: 'contacts' } }),
  ]
  const unknown = [
    // @ts-expect-error
    to({ to: '/contact' }),
    // @ts-expect-error
    to({ to: `/contact/${id}` }),
    // @ts-expect-error
    to({ to: '/contacts/new' }),
    // @ts-expect-error
    to({ to: `/deals/${id}/merge` }),
    // @ts-expect-error
    to({ to: '/deals?view=table' }),
    // @ts-expect-error
    to({ to: '/deals', search: { veiw: 'table' } }),
    // @ts-expect-error
    to({ to: '/contacts', search: { view: 'table' } }),
    // @ts-expect-error
    to({ to: `/contacts/${id}`, search: { sort: 'name' } }),
  ]
  assert.equal(known.length + unknown.length, 13)
})
