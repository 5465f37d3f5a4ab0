{# Ninety messages to the shop, of phrases by chance. The newest thirty have not been learnt. #}
{% set openings = ['Hello', 'Dear shop', 'Please help', 'Good morning'] -%}
{% set phrases = {
  'billing': ['the invoice is wrong', 'charged twice for it', 'where is the refund', 'the price on the card'],
  'shipping': ['the parcel is late', 'it came to the wrong address', 'where is the parcel', 'a broken box'],
  'advice': ['which size is right', 'is it waterproof', 'the price of a larger size', 'does it come in blue']} -%}
{% set ends = ['thank you', 'I wait for an answer', 'regards', 'the order is ten days old', 'where can I call'] -%}
{% for i in range(1, 91) -%}
{% set team = (phrases | list)[i * 7 % 11 % 3] -%}
{% set other = (phrases | list)[i * 5 % 3] if i % 8 == 0 else team -%}
{% set text = [openings[i % 4], phrases[other][i * 3 % 7 % 4], ends[i * 2 % 5]] | join(', ') -%}
{{ made_up({'message_id': i, 'team': "'" ~ team ~ "'", 'message': "'" ~ text ~ "'", 'photos': i * 3 % 5 if other == 'shipping' else i % 2,
  'channel': one_of(['mail', 'form', 'chat'], i * 5 % 7)}, loop.last) }}
{% endfor %}
