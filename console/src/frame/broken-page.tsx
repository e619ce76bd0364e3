import { Link, type ErrorComponentProps } from "@tanstack/react-router"
import { useWords } from "../words/words.tsx"

/** A mistake of ours in one page. It says so, and the way back. */
export function BrokenPage({ error }: ErrorComponentProps) {
  const words = useWords()
  return (
    <main className="plain-page" id="main">
      <h1>{words.frame.brokenPage}</h1>
      <pre className="blk">{error instanceof Error ? error.message : String(error)}</pre>
      <button type="button" className="btn" onClick={() => location.reload()}>
        {words.frame.tryAgain}
      </button>
    </main>
  )
}

export function NotFound() {
  const words = useWords()
  return (
    <main className="plain-page" id="main">
      <h1>{words.frame.notFound}</h1>
      <p className="soft">{words.frame.notFoundMore}</p>
      <Link className="btn" to="/inbox">
        {words.frame.toInbox}
      </Link>
    </main>
  )
}
