import { Page } from '../ui/page.tsx'

export const CompanyPage = () => <Page title="CompanyPage">{null}</Page>
