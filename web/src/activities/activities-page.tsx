import { Page } from '../ui/page.tsx'

export const ActivitiesPage = () => <Page title="ActivitiesPage">{null}</Page>
