import './badge.css'

type Props = { color?: 'gray' | 'red' | 'accent'; children: React.ReactNode }

/** A short text in a box, such as a choice. A plain element, because tables draw many. */
export const Badge = ({ color = 'gray', children }: Props) => (
  <span className="badge" data-color={color}>
    {children}
  </span>
)
