export function AuditPage() {
  return <main className="page" id="main" />
}
