import { imagesIn } from "./value-parts.ts"

/** The images that are in a value: of a result, a held one, or a preview. */
export function Images({ value, label }: { value: unknown; label: string }) {
  return imagesIn(value).map((source) => <img key={source} className="vv-i" src={source} alt={label} />)
}
