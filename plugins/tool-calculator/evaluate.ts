/** An exact number: numerator / denominator in lowest terms, denominator > 0. */
interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** A computed value as text, or a description of the expression's mistake for the model. */
export type Evaluation = { readonly value: string } | { readonly error: string };

const deepest = 100;

/**
 * Evaluates + - * / ( ) over integers and decimals exactly. A whole result has no decimal point. Other
 * results are decimals with at most 12 places, rounded half away from zero.
 */
export function evaluate(expression: string): Evaluation {
  const tokens = expression.match(/\d+(?:\.\d*)?|\.\d+|\S/gu) ?? [];
  let next = 0;
  let depth = 0;

  function sum(): Fraction {
    let left = product();
    while (tokens[next] === "+" || tokens[next] === "-") {
      const sign = tokens[next++] === "+" ? 1n : -1n;
      const right = product();
      const numerator = left.numerator * right.denominator + sign * right.numerator * left.denominator;
      left = fraction(numerator, left.denominator * right.denominator);
    }
    return left;
  }

  function product(): Fraction {
    let left = factor();
    while (tokens[next] === "*" || tokens[next] === "/") {
      const divides = tokens[next++] === "/";
      const { numerator, denominator } = factor();
      if (divides && numerator === 0n) throw new SyntaxError("division by zero");
      const [over, under] = divides ? [denominator, numerator] : [numerator, denominator];
      left = fraction(left.numerator * over, left.denominator * under);
    }
    return left;
  }

  function factor(): Fraction {
    const token = tokens[next++];
    if (token === undefined) throw new SyntaxError("the expression ends where a number is expected");
    if (token === "+" || token === "-" || token === "(") {
      if (++depth > deepest) throw new SyntaxError("the expression is nested too deeply");
      const value = token === "(" ? sum() : factor();
      if (token === "(" && tokens[next++] !== ")") throw new SyntaxError("a closing parenthesis is missing");
      depth--;
      return token === "-" ? { ...value, numerator: -value.numerator } : value;
    }
    if (!/\d/.test(token)) throw new SyntaxError(`“${token}” stands where a number is expected`);
    const [whole = "", decimals = ""] = token.split(".");
    return fraction(BigInt(whole + decimals), 10n ** BigInt(decimals.length));
  }

  try {
    const value = sum();
    const rest = tokens[next];
    if (rest !== undefined) return { error: `“${rest}” stands where an operator is expected` };
    return { value: decimal(value) };
  } catch (error) {
    if (error instanceof SyntaxError) return { error: error.message };
    throw error;
  }
}

function fraction(numerator: bigint, denominator: bigint): Fraction {
  const sign = denominator < 0n ? -1n : 1n;
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator * sign];
  while (b > 0n) [a, b] = [b, a % b];
  return { numerator: (sign * numerator) / a, denominator: (sign * denominator) / a };
}

const places = 12;

function decimal({ numerator, denominator }: Fraction): string {
  const scaled = (numerator < 0n ? -numerator : numerator) * 10n ** BigInt(places);
  const rounded = (scaled * 2n + denominator) / (denominator * 2n);
  const digits = String(rounded).padStart(places + 1, "0");
  const text = `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, "");
  return numerator < 0n && rounded > 0n ? `-${text}` : text;
}
