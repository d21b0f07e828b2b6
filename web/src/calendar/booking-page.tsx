import { Page } from '../ui/page.tsx'

export const BookingPagePage = () => <Page title="BookingPagePage">{null}</Page>
