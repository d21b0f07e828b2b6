import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { checkScreen, desk, phone, startWeb, type Web } from '../web.ts'
import { makeScreens } from '../web-screens.ts'

const folder = fileURLToPath(new URL('../../screenshots', import.meta.url))

let web: Web
let screens: Record<string, string>
before(async () => {
  mkdirSync(folder, { recursive: true })
  web = await startWeb()
  screens = await makeScreens(web.rapport)
})
after(() => web?.close())

const forms = { desk, phone }
for (const form of ['desk', 'phone'] as const)
  for (const colorScheme of ['light', 'dark'] as const)
    test(`every screen can be used by everybody, on a ${form} in ${colorScheme}`, async (t) => {
      // An answer of 404 is what one of them shows.
      const page = await web.open(t, '/', { ...forms[form], colorScheme, allow: /status of 404/ })
      for (const [name, path] of Object.entries(screens)) {
        await page.goto(web.rapport.url + path)
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        await page.locator('[aria-busy=true], .mantine-Skeleton-root').first().waitFor({ state: 'detached' })
        await page.waitForLoadState('load')
        const { width } = forms[form].viewport
        await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) })
        await checkScreen(page)
      }
    })

for (const form of ['desk', 'phone'] as const)
  test(`German has room and says everything, on a ${form}`, async (t) => {
    const { url } = web.rapport
    const headers = { cookie: web.cookie, 'content-type': 'application/json' }
    const speak = (language: string) =>
      fetch(`${url}/api/v1/profile`, { method: 'PUT', headers, body: JSON.stringify({ language }) })
    assert.equal((await speak('de')).status, 200)
    t.after(async () => void (await speak('en')))
    const page = await web.open(t, '/', { ...forms[form], locale: 'de-DE', allow: /status of 404/ })
    for (const [name, path] of Object.entries(screens)) {
      await page.goto(url + path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await page.locator('[aria-busy=true], .mantine-Skeleton-root').first().waitFor({ state: 'detached' })
      await page.screenshot({ path: join(folder, `${name}-${forms[form].viewport.width}-de.png`) })
      assert.equal(await page.locator('html').getAttribute('lang'), 'de')
      await checkScreen(page)
    }
  })
