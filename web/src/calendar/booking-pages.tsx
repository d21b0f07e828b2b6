import { Page } from '../ui/page.tsx'

export const BookingPagesPage = () => <Page title="BookingPagesPage">{null}</Page>
