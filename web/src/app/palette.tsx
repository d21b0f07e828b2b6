export default function Palette(_: { onClose: () => void }) {
  return null
}
