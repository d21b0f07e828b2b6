import { useTexts } from '../texts/texts.ts'
import './keys.css'

const mac = /mac|iphone|ipad/i.test(navigator.platform)
const signs: Record<string, string> = { ArrowDown: '↓', ArrowUp: '↑', ArrowLeft: '←', ArrowRight: '→' }

/** Keys as printed on a keyboard, in sequence or together. */
export function Keys({ keys }: { keys: string }) {
  const { app } = useTexts()
  return (
    <span className="keys">
      {keys.split(' ').map((press, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order is all that tells them apart
        <span key={index}>
          {index > 0 && <span className="keys-then"> {app.keys.and_then} </span>}
          {press.split('+').map((key) => (
            <kbd key={key}>
              {key === 'mod'
                ? mac
                  ? '⌘'
                  : app.keys.control
                : (signs[key] ?? namesOf(app.keys)[key] ?? (press.length > 1 ? key.toUpperCase() : key))}
            </kbd>
          ))}
        </span>
      ))}
    </span>
  )
}

const namesOf = (keys: { enter: string; escape: string }): Record<string, string> => ({
  Enter: keys.enter,
  Escape: keys.escape,
})
