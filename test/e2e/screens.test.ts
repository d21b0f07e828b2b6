// runs: once
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { quick } from '../quick.ts'
import { joinAs } from '../web/people.ts'
import { isSwept, makeScreens } from '../web/screens.ts'
import {
  checkScreen,
  colour,
  desk,
  fits,
  phone,
  settled,
  startWeb,
  untilEqual,
  violations,
  visit,
  type Web,
} from '../web.ts'

const folder = fileURLToPath(new URL('../../screenshots', import.meta.url))

// No test reads the pictures, and they cost a sixth of the CPU time.
const takesPictures = process.env.SCREENSHOTS === '1'
async function picture(page: Page, name: string, variant: string) {
  if (takesPictures) await page.screenshot({ path: join(folder, `${name}-${variant}.png`) })
}

let web: Web
let screens: Record<string, string>
let german: string
before(async () => {
  if (takesPictures) mkdirSync(folder, { recursive: true })
  web = await startWeb()
  screens = await makeScreens(web.rapport)
  german = await joinAs(web.rapport, 'gerda@example.test', 'admin', { language: 'de' })
})
after(() => web?.close())

/** Checks what may differ in forced colours, and at twice the text size. */
async function checkAids(page: Page) {
  const found = (...values: string[]) => violations(page, { type: 'rule', values })
  await page.emulateMedia({ forcedColors: 'active' })
  await colour(page, 'light')
  assert.deepEqual(await found('color-contrast'), [], `${page.url()} in forced colours`)
  await page.emulateMedia({ forcedColors: null, colorScheme: null })
  await page.evaluate("document.documentElement.style.fontSize = '200%'")
  const large = await found('target-size', 'scrollable-region-focusable')
  assert.deepEqual(large, [], `${page.url()} at twice the text size`)
  await fits(page)
  await page.evaluate("document.documentElement.style.fontSize = ''")
}

// The sweep in German fits on a phone, too.
for (const [form, view] of Object.entries(quick ? { desk } : { desk, phone }))
  test(`every screen can be used by everybody, on a ${form}`, async (t) => {
    // An answer of 404 is what one of them shows.
    const page = await web.open(t, '/', { ...view, allow: /status of 404/ })
    for (const [name, path] of Object.entries(screens)) {
      await visit(page, path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await settled(page)
      await checkScreen(page, (scheme) => picture(page, name, `${view.viewport.width}-${scheme}`))
      if (view === desk && isSwept(name)) await checkAids(page)
    }
  })

test('German has room on every screen of a phone', async (t) => {
  const page = await web.open(t, '/', {
    ...phone,
    session: german,
    locale: 'de-DE',
    allow: /status of 404/,
  })
  for (const [name, path] of Object.entries(screens)) {
    await visit(page, path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await settled(page)
    await picture(page, name, `${phone.viewport.width}-de`)
    await untilEqual(() => page.locator('html').getAttribute('lang'), 'de')
    await fits(page)
  }
})
