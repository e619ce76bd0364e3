import type { Card } from "../../../src/http/api/schemas.ts"
import { useMe } from "../api/queries.ts"
import { useWords } from "../words/words.tsx"

/** What the person may do with a card: anybody who may approve can say no or edit, but a yes may need somebody else. */
export function useMay({ mayAnswer }: Card): { yes: boolean; no: boolean; whyNot: string | undefined } {
  const { card } = useWords()
  const no = useMe().scopes.includes("approve")
  if (!no) return { yes: false, no, whyNot: card.mayNotApprove }
  return { yes: mayAnswer, no, whyNot: mayAnswer ? undefined : card.mayNotAnswer }
}
