import type { Question } from "../../../core/approval.ts"

export const sampleForm = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2, maxLength: 20 },
    email: { type: "string", format: "email" },
    age: { type: "integer", minimum: 0, maximum: 150 },
    colour: {
      type: "string",
      oneOf: [
        { const: "r", title: "Red" },
        { const: "b", title: "Blue" },
      ],
      default: "b",
    },
    tags: { type: "array", items: { type: "string", enum: ["a", "b", "c"] }, maxItems: 2 },
    sure: { type: "boolean", default: false },
  },
  required: ["name"],
}
export const formQuestion: Question = { question: "Who are you?", form: sampleForm }
