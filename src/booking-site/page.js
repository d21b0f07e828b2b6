// Shows times in the visitor's own zone, and another day without loading a page. The pages also work without this script.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
const announcement = document.getElementById('said')
let latest = 0

// The id of the element with the focus, '' if it has no id. Undefined if no element has the focus.
const focused = () => (document.activeElement === document.body ? undefined : document.activeElement.id)

// Replaces the main part of this page with that of another page. `focus` is the id of the element that gets the focus, by
// default the element that has it. If that element is gone, the heading of the times gets the focus.
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
    if (say) announcement.textContent = document.getElementById(say)?.textContent ?? ''
    return true
  } catch {
    document.querySelector('main').removeAttribute('aria-busy')
    return false
  }
}

// Each entry of the history stores the element that had the focus.
const remember = () => history.replaceState({ focus: focused() ?? '' }, '', location.href)

async function go(url, focus, say) {
  const number = latest + 1
  remember()
  if (await show(url, focus, say)) history.pushState({ focus }, '', url)
  // Load a page that cannot be fetched, so that the visitor sees the answer, unless a later click is under way.
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

// Mark a sent form as busy until its answer comes. The server handles a repeated form once.
document.addEventListener('submit', ({ target, defaultPrevented }) => {
  if (!defaultPrevented) target.setAttribute('aria-busy', 'true')
})
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[aria-busy]')) form.removeAttribute('aria-busy')
})

// Ignore links within the page, from a problem to its field: their entries have no state.
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
