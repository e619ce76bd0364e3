import type { ReactNode } from "react"
import { problemOf } from "../api/http.ts"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { Icon } from "./icon.tsx"

/** Shows an error, its reason, and its remedy. The rest of the page goes on. */
export function ProblemBox({ error, retry, children }: { error: unknown; retry?: () => void; children?: ReactNode }) {
  const words = useWords()
  const text = useProblemText()
  const { code } = problemOf(error)
  return (
    <div className="strip strip-deny problem" role="alert">
      <Icon name="alert-triangle" />
      <p className="grow">
        <b>{words.frame.loadFailed}.</b> {text(error)} {code !== undefined && <code>{code}</code>}
      </p>
      {children}
      {retry !== undefined && (
        <button type="button" className="btn btn-s" onClick={retry}>
          {words.frame.tryAgain}
        </button>
      )}
    </div>
  )
}
