// What the pages do better with a script: the visitor's own zone, and another day without loading a page. Without it the
// same links and forms lead to the same pages.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
const said = document.getElementById('said')
let latest = 0

// What has the focus, as an id where it has one; undefined: nothing has it.
const focused = () => (document.activeElement === document.body ? undefined : document.activeElement.id)

// Puts the main part of another page in the place of this one's; `focus` is the id of what has the focus then, by default
// of what has it when the other page is there. What has gone leaves it to the heading of the times.
async function show(url, focus, say) {
  const number = ++latest
  document.querySelector('main').setAttribute('aria-busy', 'true')
  try {
    const answer = await fetch(url, { headers: { accept: 'text/html' } })
    const text = await answer.text()
    if (number !== latest) return false
    if (!answer.ok) throw new Error(answer.statusText)
    const next = new DOMParser().parseFromString(text, 'text/html')
    const had = focus ?? focused()
    document.querySelector('main').replaceWith(next.querySelector('main'))
    document.title = next.title
    if (had !== undefined) (document.getElementById(had) ?? document.getElementById('day'))?.focus()
    if (say) said.textContent = document.getElementById(say)?.textContent ?? ''
    return true
  } catch {
    document.querySelector('main').removeAttribute('aria-busy')
    return false
  }
}

// Each entry of the history remembers what had the focus when it was left.
const remember = () => history.replaceState({ focus: focused() ?? '' }, '', location.href)

async function go(url, focus, say) {
  const number = latest + 1
  remember()
  if (await show(url, focus, say)) history.pushState({ focus }, '', url)
  // What cannot be fetched is loaded, so that the answer is seen. A later click has its own.
  else if (number === latest) location.assign(url)
}

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-swap]')
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  if (link.dataset.swap === 'day') go(link.href, 'day')
  else go(link.href, link.id, 'month')
})

document.addEventListener('submit', (event) => {
  const form = event.target
  if (form.className !== 'zone') return
  event.preventDefault()
  go(`${form.action}?${new URLSearchParams(new FormData(form))}`, 'change', 'day')
})

// A form that was sent says so until its answer comes; what the form does twice, the server does once.
document.addEventListener('submit', ({ target, defaultPrevented }) => {
  if (!defaultPrevented) target.setAttribute('aria-busy', 'true')
})
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[aria-busy]')) form.removeAttribute('aria-busy')
})

// A link within a page, from a problem to its field, comes here too: that is no other page.
addEventListener('popstate', ({ state }) => {
  if (state) show(location.href, state.focus)
})

const shown = document.querySelector('main').dataset.zone
if (shown) {
  history.replaceState({}, '', location.href)
  const url = new URL(location.href)
  if (zone && zone !== shown && !url.searchParams.has('zone')) {
    url.searchParams.set('zone', zone)
    show(url.href).then((done) => {
      if (done) history.replaceState({}, '', url.href)
    })
  }
}
