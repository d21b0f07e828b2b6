export default function ShortcutSheet(_: { onClose: () => void }) {
  return null
}
