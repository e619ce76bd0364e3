import { Icon } from "./icon.tsx"
import { Marked } from "./marked.tsx"

/** Says that somebody else ended or deleted what is shown. */
export function Gone({ text }: { text: string }) {
  return (
    <p className="strip strip-in strip-ask" role="alert">
      <Icon name="alert-triangle" />
      <span>
        <Marked text={text} />
      </span>
    </p>
  )
}
