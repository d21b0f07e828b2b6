import { GlobeIcon } from '@primer/octicons-react'
import { Glance } from '../deals/glance.tsx'
import { Facts } from '../record/fields/facts.tsx'
import type { RecordProps } from '../record/kinds.ts'
import { RecordView } from '../record/page/record-view.tsx'
import { useTexts } from '../texts/texts.ts'
import { PageAction } from '../ui/page-action.tsx'
import { websiteOf } from '../ui/website.ts'
import { fields } from './fields.ts'

/** A company with all that belongs to it, on its page and in the side panel. */
export function CompanyRecord(props: RecordProps) {
  const t = useTexts()
  return (
    <RecordView kind="companies" {...props}>
      {(company, save) => {
        const website = websiteOf(company.website)
        return {
          subtitle: company.industry,
          actions: website && (
            <PageAction
              word={t.fields.website}
              label={t.companies.open_website({ name: company.name })}
              icon={GlobeIcon}
              href={website}
              target="_blank"
              rel="noopener noreferrer"
            />
          ),
          glance: <Glance kind="companies" record={company} />,
          facts: (
            <div className="fields">
              <Facts kind="companies" record={company} fields={fields} save={save} />
            </div>
          ),
        }
      }}
    </RecordView>
  )
}
