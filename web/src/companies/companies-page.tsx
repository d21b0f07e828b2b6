import { Page } from '../ui/page.tsx'

export const CompaniesPage = () => <Page title="CompaniesPage">{null}</Page>
