export function CallPage() {
  return <main className="page" id="main" />
}
