import type { Card } from "../../../src/approvals/card/schema.ts"
import { useWords } from "../words/words.tsx"

const step = { low: 1, medium: 2, high: 3 } as const

export function Risk({ band, long = false }: { band: Card["risk"]["band"]; long?: boolean }) {
  const { inbox } = useWords()
  const short = { low: inbox.low, medium: inbox.medium, high: inbox.high }
  const full = { low: inbox.lowRisk, medium: inbox.mediumRisk, high: inbox.highRisk }
  return (
    <span className={`risk risk-${step[band]}`}>
      <span className="bars" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {long ? full[band] : short[band]}
    </span>
  )
}
