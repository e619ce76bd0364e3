export function InboxPage() {
  return <main id="main" />
}
