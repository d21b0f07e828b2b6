import { Page } from '../ui/page.tsx'

export const WorkspacePage = () => <Page title="WorkspacePage">{null}</Page>
