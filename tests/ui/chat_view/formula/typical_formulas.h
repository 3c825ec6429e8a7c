// Formulas as answers have them: of school, papers and lectures.
#pragma once

#include <QStringList>

namespace winnow::ui {

inline QStringList typicalFormulas() {
  return {
      QStringLiteral(R"($$x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$$)"),
      QStringLiteral(R"($$P(A \mid B) = \frac{P(B \mid A)\, P(A)}{P(B)}$$)"),
      QStringLiteral(R"($$\text{Attention}(Q, K, V) = \operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V$$)"),
      QStringLiteral(R"($$\nabla \times \mathbf{E} = -\frac{\partial \mathbf{B}}{\partial t}, \qquad \nabla \cdot \mathbf{B} = 0$$)"),
      QStringLiteral(
          R"($$A = \begin{pmatrix} a_{11} & a_{12} & \cdots & a_{1n} \\ a_{21} & a_{22} & \cdots & a_{2n} \\ \vdots & \vdots & \ddots & \vdots \\ a_{m1} & a_{m2} & \cdots & a_{mn} \end{pmatrix}$$)"),
      QStringLiteral(R"($$|x| = \begin{cases} x & \text{if } x \geq 0 \\ -x & \text{otherwise} \end{cases}$$)"),
      QStringLiteral(R"($$\lim_{n \to \infty} \left(1 + \frac{1}{n}\right)^n = e$$)"),
      QStringLiteral(R"($$\sum_{i=1}^{n} i^2 = \frac{n(n+1)(2n+1)}{6}$$)"),
      QStringLiteral(R"($$\int_{-\infty}^{\infty} e^{-x^2}\,dx = \sqrt{\pi}$$)"),
      QStringLiteral(R"($$(x+y)^n = \sum_{k=0}^n \binom{n}{k} x^{n-k} y^k$$)"),
      QStringLiteral(R"($$\hat{f}(\xi) = \int_{\mathbb{R}} f(x)\, e^{-2\pi i x \xi}\,dx$$)"),
      QStringLiteral(R"($$\begin{aligned} (a+b)^2 &= (a+b)(a+b) \\ &= a^2 + 2ab + b^2 \end{aligned}$$)"),
      QStringLiteral(R"($$\theta_{t+1} = \theta_t - \eta \nabla_\theta \mathcal{L}(\theta_t)$$)"),
      QStringLiteral(R"($$\mathcal{L} = -\frac{1}{N}\sum_{i=1}^N \sum_{c=1}^C y_{i,c} \log \hat{y}_{i,c}$$)"),
      QStringLiteral(R"($$f'(x) = \lim_{h\to 0}\frac{f(x+h)-f(x)}{h}, \quad f''(x), \quad f'^2$$)"),
      QStringLiteral(R"($$\sqrt[3]{\frac{x^3+y^3}{2}} + \sqrt{1+\sqrt{1+\sqrt{1+x}}}$$)"),
      QStringLiteral(
          R"($$\left\{ x \in \mathbb{R} \,\middle|\, x^2 < 2 \right\}, \quad \left\lfloor \frac{n}{2} \right\rfloor, \quad \left\langle \psi \middle| \hat{H} \middle| \psi \right\rangle$$)"),
      QStringLiteral(
          R"($$\bar{x} \quad \hat{x} \quad \vec{v} \quad \tilde{A} \quad \dot{q} \quad \ddot{q} \quad \overline{AB} \quad \underline{xy} \quad \widehat{abc} \quad \overrightarrow{AB}$$)"),
      QStringLiteral(R"($$\underbrace{1 + 1 + \cdots + 1}_{n \text{ times}} = n, \quad \overbrace{a+b+c}^{3}$$)"),
      QStringLiteral(R"($$\boxed{E = mc^2} \qquad \prod_{p \text{ prime}} \frac{1}{1-p^{-s}} = \sum_{n=1}^\infty \frac{1}{n^s}$$)"),
      QStringLiteral(
          R"($$\det\begin{vmatrix} a & b \\ c & d \end{vmatrix} = ad - bc, \quad \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}, \quad \left[\begin{array}{cc|c} 1 & 2 & 3 \\ 4 & 5 & 6 \end{array}\right]$$)"),
      QStringLiteral(
          R"($$X_k = \sum_{n=0}^{N-1} x_n e^{-\frac{2\pi i}{N} kn}, \qquad \oint_C \mathbf{F}\cdot d\mathbf{r} = \iint_S (\nabla\times\mathbf{F})\cdot d\mathbf{S}$$)"),
      QStringLiteral(
          R"($$\mathbb{E}[X] = \int_\Omega X \, d\mathbb{P}, \quad \operatorname*{arg\,max}_{\theta} \; p(\theta \mid \mathcal{M}), \quad \max_{x \in S} f(x)$$)"),
      QStringLiteral(R"($$\forall \varepsilon > 0\ \exists \delta > 0 : |x - a| < \delta \implies |f(x) - f(a)| < \varepsilon$$)"),
      QStringLiteral(
          R"($$\mathrm{KL}(p \,\|\, q) = \sum_x p(x) \log\frac{p(x)}{q(x)}, \quad a \equiv b \pmod{n}, \quad A \xrightarrow{f} B$$)"),
      QStringLiteral(
          R"($$\frac{\mathrm{d}}{\mathrm{d}x}\int_a^x f(t)\,\mathrm{d}t = f(x), \qquad \bigl( \bigl[ \Bigl( \biggl( \Biggl( x \Biggr) \biggr) \Bigr) \bigr] \bigr)$$)"),
      QStringLiteral(
          R"($$\frac{1}{1+\frac{1}{1+\frac{1}{x}}} \quad \cfrac{1}{1+\cfrac{1}{1+\cfrac{1}{x}}} \quad x^{y^{z}} \quad x_{i_j}$$)"),
  };
}

}  // namespace winnow::ui
