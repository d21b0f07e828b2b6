import { Checkbox, Input } from '@mantine/core'
import { useTexts } from '../texts/with-settings.ts'
import { byResource, resourceName } from './scopes.ts'

type Props = {
  /** The scopes that may be granted. */
  known: readonly string[]
  value: readonly string[]
  onChange: (scopes: string[]) => void
  error?: React.ReactNode
}

/** The scopes of a key: a row per resource, read and write side by side. */
export function ScopeMatrix({ known, value, onChange, error }: Props) {
  const t = useTexts()
  const put = (scope: string, on: boolean) =>
    onChange(known.filter((one) => (one === scope ? on : value.includes(one))))
  const verbs = ['read', 'write'] as const
  return (
    <div>
      <table className="matrix" aria-label={t.settings.scopes}>
        <thead>
          <tr>
            <th scope="col">{t.settings.resource}</th>
            {verbs.map((verb) => (
              <th key={verb} scope="col">
                {t.settings.verbs[verb]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...byResource(known)].map(([resource, possible]) => (
            <tr key={resource}>
              <th scope="row">{resourceName(resource, t)}</th>
              {verbs.map((verb) => {
                const scope = `${resource}:${verb}`
                return (
                  <td key={verb}>
                    {possible.includes(verb) && (
                      <Checkbox
                        size="xs"
                        aria-label={`${resourceName(resource, t)}: ${t.settings.verbs[verb]}`}
                        checked={value.includes(scope)}
                        onChange={(event) => put(scope, event.currentTarget.checked)}
                      />
                    )}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {error && <Input.Error role="alert">{error}</Input.Error>}
    </div>
  )
}
