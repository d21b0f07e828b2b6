import './focus-tip.css'

// The name of a button that shows only an icon: a pointer shows its title, and the keyboard this.
const tip = document.createElement('div')
tip.className = 'focus-tip'
tip.popover = 'manual'
// The button has the name already.
tip.ariaHidden = 'true'

const hide = (): void => {
  if (tip.matches(':popover-open')) tip.hidePopover()
}

function show({ target }: FocusEvent): void {
  if (!(target instanceof HTMLElement) || !target.matches('a, button')) return
  const text = target.title || target.ariaLabel
  if (!text || target.innerText.trim() || !target.matches(':focus-visible')) return
  tip.textContent = text
  // In the page, so that its language and text size are those of the page.
  document.body.append(tip)
  tip.showPopover()
  const { left, top, bottom, width } = target.getBoundingClientRect()
  const { offsetWidth, offsetHeight } = tip
  const centred = left + width / 2 - offsetWidth / 2
  const below = bottom + 4
  const above = top - offsetHeight - 4
  tip.style.left = `${Math.max(4, Math.min(centred, window.innerWidth - offsetWidth - 4))}px`
  tip.style.top = `${below + offsetHeight > window.innerHeight ? above : below}px`
}

addEventListener('focusin', show)
addEventListener('focusout', hide)
addEventListener('pointerdown', hide)
addEventListener('scroll', hide, { capture: true, passive: true })
addEventListener('keydown', ({ key }) => key === 'Escape' && hide())
