;; The inner loops of AdamW on numbers of one memory, four at a time. `node scripts/generate-wasm.ts` makes
;; adamw-module.ts of this file. The memory is given, and shared by threads; what lies where in it is adamw-kernel.ts's
;; business. Addresses are multiples of 16, and counts of 8.
(module
  (import "adamw" "memory" (memory 1 65536 shared))

  ;; Updates the `count` parameters at `parameter`, and their moments.
  (func (export "update")
    (param $parameter i32) (param $gradient i32) (param $firstMoment i32) (param $secondMoment i32)
    (param $count i32)
    (param $gradientScale f32)
    (param $firstDecay f32) (param $firstGain f32)   ;; β1 and 1 − β1
    (param $secondDecay f32) (param $secondGain f32) ;; β2 and 1 − β2
    (param $kept f32)                                ;; 1 − learning rate · weight decay
    (param $stepSize f32)                            ;; learning rate / (1 − β1^t)
    (param $secondScale f32)                         ;; 1 / √(1 − β2^t)
    (param $epsilon f32)
    (local $end i32)
    (local $slope v128) (local $first v128) (local $second v128)
    (local.set $end (i32.add (local.get $parameter) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $parameter) (local.get $end)))
        (local.set $slope
          (f32x4.mul (v128.load (local.get $gradient)) (f32x4.splat (local.get $gradientScale))))
        (local.set $first
          (f32x4.add
            (f32x4.mul (v128.load (local.get $firstMoment)) (f32x4.splat (local.get $firstDecay)))
            (f32x4.mul (local.get $slope) (f32x4.splat (local.get $firstGain)))))
        (local.set $second
          (f32x4.add
            (f32x4.mul (v128.load (local.get $secondMoment)) (f32x4.splat (local.get $secondDecay)))
            (f32x4.mul
              (f32x4.mul (local.get $slope) (local.get $slope))
              (f32x4.splat (local.get $secondGain)))))
        (v128.store (local.get $firstMoment) (local.get $first))
        (v128.store (local.get $secondMoment) (local.get $second))
        (v128.store (local.get $parameter)
          (f32x4.sub
            (f32x4.mul (v128.load (local.get $parameter)) (f32x4.splat (local.get $kept)))
            (f32x4.div
              (f32x4.mul (local.get $first) (f32x4.splat (local.get $stepSize)))
              (f32x4.add
                (f32x4.mul (f32x4.sqrt (local.get $second)) (f32x4.splat (local.get $secondScale)))
                (f32x4.splat (local.get $epsilon))))))
        (local.set $parameter (i32.add (local.get $parameter) (i32.const 16)))
        (local.set $gradient (i32.add (local.get $gradient) (i32.const 16)))
        (local.set $firstMoment (i32.add (local.get $firstMoment) (i32.const 16)))
        (local.set $secondMoment (i32.add (local.get $secondMoment) (i32.const 16)))
        (br $next))))

  ;; The sum of the squares of the `count` gradients at `gradient`, in double precision: four sums of two numbers each, since one
  ;; addition would wait for the other.
  (func (export "squares") (param $gradient i32) (param $count i32) (result f64)
    (local $end i32) (local $numbers v128)
    (local $sum0 v128) (local $sum1 v128) (local $sum2 v128) (local $sum3 v128)
    (local.set $end (i32.add (local.get $gradient) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $gradient) (local.get $end)))
        (local.set $numbers (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $gradient))))
        (local.set $sum0 (f64x2.add (local.get $sum0) (f64x2.mul (local.get $numbers) (local.get $numbers))))
        (local.set $numbers (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $gradient))))
        (local.set $sum1 (f64x2.add (local.get $sum1) (f64x2.mul (local.get $numbers) (local.get $numbers))))
        (local.set $numbers (f64x2.promote_low_f32x4 (v128.load64_zero offset=16 (local.get $gradient))))
        (local.set $sum2 (f64x2.add (local.get $sum2) (f64x2.mul (local.get $numbers) (local.get $numbers))))
        (local.set $numbers (f64x2.promote_low_f32x4 (v128.load64_zero offset=24 (local.get $gradient))))
        (local.set $sum3 (f64x2.add (local.get $sum3) (f64x2.mul (local.get $numbers) (local.get $numbers))))
        (local.set $gradient (i32.add (local.get $gradient) (i32.const 32)))
        (br $next)))
    (local.set $sum0 (f64x2.add (local.get $sum0) (local.get $sum1)))
    (local.set $sum2 (f64x2.add (local.get $sum2) (local.get $sum3)))
    (local.set $sum0 (f64x2.add (local.get $sum0) (local.get $sum2)))
    (f64.add (f64x2.extract_lane 0 (local.get $sum0)) (f64x2.extract_lane 1 (local.get $sum0))))

  ;; Adds the `count` gradients at `gradient` to the sums at `sum`.
  (func (export "add") (param $sum i32) (param $gradient i32) (param $count i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $sum) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $sum) (local.get $end)))
        (v128.store (local.get $sum)
          (f32x4.add (v128.load (local.get $sum)) (v128.load (local.get $gradient))))
        (local.set $sum (i32.add (local.get $sum) (i32.const 16)))
        (local.set $gradient (i32.add (local.get $gradient) (i32.const 16)))
        (br $next))))

  ;; Of `count` codes: the value of each, times the scale of its block of 256.
  (func (export "dequantize")
    (param $count i32) (param $codes i32) (param $scales i32) (param $values i32) (param $into i32)
    (local $at i32) (local $scale f32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $count)))
        (if (i32.eqz (i32.and (local.get $at) (i32.const 255)))
          (then
            (local.set $scale
              (f32.load (i32.add (local.get $scales) (i32.shr_u (local.get $at) (i32.const 6)))))))
        (f32.store
          (i32.add (local.get $into) (i32.shl (local.get $at) (i32.const 2)))
          (f32.mul
            (local.get $scale)
            (f32.load
              (i32.add
                (local.get $values)
                (i32.shl
                  (i32.load8_u (i32.add (local.get $codes) (local.get $at)))
                  (i32.const 2))))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next))))

  ;; The other way around: a scale for each block of 256, its largest magnitude; and for each number the level nearest to
  ;; its magnitude by that. `steps` has, for the upper 16 bits of a magnitude less those of 2^-23, the lowest level that
  ;; it can be, and `middles` what separates a level from the next one; there is one at most among numbers with the same
  ;; upper bits. Signed codes are 127 + level, or 127 - level, where the last level is for positive numbers alone; of
  ;; unsigned ones zero stands for zero alone.
  (func (export "quantize")
    (param $count i32) (param $from i32) (param $codes i32) (param $scales i32)
    (param $steps i32) (param $middles i32) (param $signed i32)
    (local $at i32) (local $end i32) (local $step i32) (local $level i32)
    (local $largest f32) (local $value f32) (local $size f32)
    (block $done
      (loop $nextBlock
        (br_if $done (i32.ge_u (local.get $at) (local.get $count)))
        (local.set $end (i32.add (local.get $at) (i32.const 256)))
        (if (i32.gt_u (local.get $end) (local.get $count)) (then (local.set $end (local.get $count))))
        (local.set $largest (f32.const 0))
        (local.set $step (local.get $at))
        (loop $nextSize
          (local.set $largest
            (f32.max
              (local.get $largest)
              (f32.abs
                (f32.load (i32.add (local.get $from) (i32.shl (local.get $step) (i32.const 2)))))))
          (local.set $step (i32.add (local.get $step) (i32.const 1)))
          (br_if $nextSize (i32.lt_u (local.get $step) (local.get $end))))
        (f32.store
          (i32.add (local.get $scales) (i32.shr_u (local.get $at) (i32.const 6)))
          (local.get $largest))
        (loop $nextNumber
          (local.set $value (f32.load (i32.add (local.get $from) (i32.shl (local.get $at) (i32.const 2)))))
          (local.set $size (f32.div (f32.abs (local.get $value)) (local.get $largest)))
          ;; 0 / 0, where all of a block are zero, is not a number: its level is that of zero.
          (if (f32.ne (local.get $size) (local.get $size)) (then (local.set $size (f32.const 0))))
          (local.set $step
            (i32.sub (i32.shr_u (i32.reinterpret_f32 (local.get $size)) (i32.const 16)) (i32.const 13312)))
          (local.set $level (i32.const 0))
          (if (i32.ge_s (local.get $step) (i32.const 0))
            (then
              (local.set $level (i32.load8_u (i32.add (local.get $steps) (local.get $step))))
              (local.set $level
                (i32.add
                  (local.get $level)
                  (f32.gt
                    (local.get $size)
                    (f32.load
                      (i32.add (local.get $middles) (i32.shl (local.get $level) (i32.const 2)))))))))
          (if (local.get $signed)
            (then
              (if (f32.lt (local.get $value) (f32.const 0))
                (then
                  (local.set $level
                    (i32.sub
                      (i32.const 127)
                      (i32.sub (local.get $level) (i32.shr_u (local.get $level) (i32.const 7))))))
                (else (local.set $level (i32.add (local.get $level) (i32.const 127))))))
            (else
              (local.set $level
                (i32.or
                  (local.get $level)
                  (i32.and
                    (i32.eqz (local.get $level))
                    (f32.gt (local.get $value) (f32.const 0)))))))
          (i32.store8 (i32.add (local.get $codes) (local.get $at)) (local.get $level))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br_if $nextNumber (i32.lt_u (local.get $at) (local.get $end))))
        (br $nextBlock)))))
