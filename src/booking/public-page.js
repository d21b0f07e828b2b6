// What the pages do better with a script: the visitor's own zone, and another day without loading a page. Without it the
// same links and forms lead to the same pages.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
document.documentElement.classList.add('js')

const said = document.getElementById('said')
let latest = 0

// Puts the main part of another page in the place of this one's; `focus` is the id of what has the focus then.
async function show(url, focus, say) {
  const number = ++latest
  document.querySelector('main').setAttribute('aria-busy', 'true')
  try {
    const answer = await fetch(url, { headers: { accept: 'text/html' } })
    const text = await answer.text()
    if (number !== latest) return false
    if (!answer.ok) throw new Error(answer.statusText)
    const next = new DOMParser().parseFromString(text, 'text/html')
    document.querySelector('main').replaceWith(next.querySelector('main'))
    document.title = next.title
    const target = focus && (document.getElementById(focus) ?? document.getElementById('day'))
    target?.focus()
    if (say) said.textContent = document.getElementById(say)?.textContent ?? ''
    return true
  } catch {
    document.querySelector('main').removeAttribute('aria-busy')
    return false
  }
}

async function go(url, focus, say) {
  const number = latest + 1
  if (await show(url, focus, say)) history.pushState('swapped', '', url)
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

document.addEventListener('change', ({ target }) => {
  if (target.id !== 'zone') return
  const query = new URLSearchParams(new FormData(target.form))
  go(`${target.form.action}?${query}`, 'zone')
})

// A form that was sent says so until its answer comes; what the form does twice, the server does once.
document.addEventListener('submit', ({ target }) => target.setAttribute('aria-busy', 'true'))
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[aria-busy]')) form.removeAttribute('aria-busy')
})

// A link within a page, from a problem to its field, comes here too: that is no other page.
addEventListener('popstate', ({ state }) => {
  if (state === 'swapped') show(location.href)
})

const shown = document.querySelector('main').dataset.zone
if (shown) {
  history.replaceState('swapped', '', location.href)
  const url = new URL(location.href)
  if (zone && zone !== shown && !url.searchParams.has('zone')) {
    url.searchParams.set('zone', zone)
    show(url.href).then((done) => {
      if (done) history.replaceState('swapped', '', url.href)
    })
  }
}
