/**
 * math-verify and its dependencies: pure Python, 7 MB in all, downloaded with pip and accepted only with
 * these digests.
 */
export const wheels = [
  {
    name: "math-verify",
    version: "0.9.0",
    sha256: "3703e7c4885354027fa84409d762a596a2906d1fd4deb78361876bd905a76194",
  },
  {
    name: "latex2sympy2-extended",
    version: "1.11.0",
    sha256: "aebb77d52ce269e25028e4bea89ddb14d242ba36bcf7b636496fb5fd9728d234",
  },
  {
    name: "antlr4-python3-runtime",
    version: "4.13.2",
    sha256: "fe3835eb8d33daece0e799090eda89719dbccee7aa39ef94eed3818cafa5a7e8",
  },
  {
    name: "sympy",
    version: "1.14.0",
    sha256: "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5",
  },
  {
    name: "mpmath",
    version: "1.3.0",
    sha256: "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c",
  },
];
