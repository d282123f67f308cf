export const description = "Evaluates an arithmetic expression exactly.";
export const parameters = {
  type: "object",
  additionalProperties: false,
  required: ["expression"],
  properties: {
    expression: {
      type: "string",
      description: "Numbers, + - * / and parentheses, for example 74 + 50 - 47.",
      minLength: 1,
      maxLength: 1000,
    },
  },
};
export function calculate(expression) {
  if (!/^[-+*/().\d\s]+$/.test(String(expression))) return "error: numbers, + - * / and parentheses alone";
  try {
    return String(Function(`return (${expression})`)());
  } catch (error) {
    return `error: ${error.message}`;
  }
}
