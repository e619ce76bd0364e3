import type { Card } from "../../../src/approvals/card/schema.ts"
import { useMe } from "../api/queries.ts"
import { useWords } from "../words/words.tsx"

/** Returns the person's rights on a card: all approvers can say no or edit, but a yes may need somebody else. */
export function useMay({ mayAnswer, votes }: Card): { yes: boolean; no: boolean; whyNot: string | undefined } {
  const { card } = useWords()
  const { id, scopes } = useMe()
  const no = scopes.includes("approve")
  if (!no) return { yes: false, no, whyNot: card.mayNotApprove }
  if (!mayAnswer && votes.some(({ by }) => by === id)) return { yes: false, no, whyNot: card.agreedAlready }
  return { yes: mayAnswer, no, whyNot: mayAnswer ? undefined : card.mayNotAnswer }
}
