import { Page } from '../ui/page.tsx'

export const TrashPage = () => <Page title="TrashPage">{null}</Page>
