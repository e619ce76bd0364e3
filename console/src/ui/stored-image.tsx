import { useQuery } from "@tanstack/react-query"
import { file } from "../api/http.ts"
import { useWords } from "../words/words.tsx"
import { Later } from "./later.tsx"

interface Props {
  readonly reference: string
  readonly mimeType: string
  readonly agentId: string
}

/** An image that a call stored as an artifact. */
export function StoredImage({ reference, mimeType, agentId }: Props) {
  const words = useWords()
  const { data, error } = useQuery({
    queryKey: ["artifact", agentId, reference],
    queryFn: ({ signal }) => addressOf(reference, mimeType, agentId, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  if (error !== null) return <p className="soft">{words.steps.imageGone(reference)}</p>
  if (data === undefined)
    return (
      <Later>
        <div className="sk" aria-busy="true" />
      </Later>
    )
  return <img className="vv-i" src={data} alt={words.steps.theImage} />
}

/** The server sends artifacts as files to save, never as pages or images; only here it becomes an image again. */
async function addressOf(reference: string, mimeType: string, agentId: string, signal: AbortSignal): Promise<string> {
  const query = new URLSearchParams({ agentId })
  const bytes = await file(`/v1/artifacts/${encodeURIComponent(reference)}?${query.toString()}`, signal)
  return URL.createObjectURL(new Blob([bytes], { type: mimeType }))
}
